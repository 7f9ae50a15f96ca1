-- SPDX-License-Identifier: MIT
-- Gets several addresses in turn with wrk; each thread begins with another one. The last line is that of bench/rotate.lua.
--
--     wrk -t2 -c4 -d3s -s bench/peers/get.lua http://localhost:8888 -- PATH...
dofile("bench/rotate.lua")
local turn, targets = 0, {}

function init(arguments)
    turn, targets = first, arguments
end

function request()
    turn = turn + 1
    return wrk.format("GET", targets[turn % #targets + 1])
end
