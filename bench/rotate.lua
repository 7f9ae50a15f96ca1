-- SPDX-License-Identifier: MIT
-- Posts pictures in turn with wrk; each thread and connection begins with another one. Without pictures it
-- gets the URL. The last line is JSON: what was answered, how fast, how many bytes.
--
--     wrk -t2 -c4 -d3s -s bench/rotate.lua 'http://localhost:8080/blur?sigma=8' -- PICTURE...
-- With the variable ONE_EACH a thread posts one picture all the time, the next thread the next one. wrk then sends the
-- request from where it is; else it copies it each time, which takes a tenth of the processors beside a fast server.
local number = 0
local messages = {}
local turn = 0

local function read(path)
    local file = assert(io.open(path, "rb"))
    local content = file:read("*a")
    file:close()
    return content
end

function setup(thread)
    thread:set("first", number)
    number = number + 1
end

function init(arguments)
    turn = first
    if os.getenv("ONE_EACH") then
        wrk.method, wrk.body = "POST", read(arguments[first % #arguments + 1])
        return
    end
    for i, path in ipairs(arguments) do
        messages[i] = wrk.format("POST", nil, nil, read(path))
    end
    if #messages == 0 then
        messages[1] = wrk.format("GET")
    end
end

if not os.getenv("ONE_EACH") then -- wrk calls it wherever there is one
    function request()
        turn = turn + 1
        return messages[turn % #messages + 1]
    end
end

function done(summary, latency, requests)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    print(string.format('{"requests": %d, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f, "p999_ms": %.3f, ' ..
        '"bytes": %d, "failed": %d}', summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
        latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, summary.bytes, failed))
end
