-- SPDX-License-Identifier: MIT
-- Posts a picture with wrk, and counts the answers: by what X-Backend says, and, with EXPECTED,
-- those whose body is another one. Prints one line for each backend and one for the wrong ones.
--
--     wrk -t2 -c16 -d10s -s bench/post.lua 'http://localhost:8080/blur?sigma=8' -- PICTURE [EXPECTED]
local threads = {}

local function read(path)
    local file = assert(io.open(path, "rb"))
    local content = file:read("*a")
    file:close()
    return content
end

function setup(thread)
    table.insert(threads, thread)
end

function init(arguments)
    assert(arguments[1], "which picture? wrk ... -s post.lua URL -- PICTURE [EXPECTED]")
    wrk.method = "POST"
    wrk.body = read(arguments[1])
    expected = arguments[2] and read(arguments[2])
    counts, wrong, refused = "", 0, 0
    backends = {}
end

function response(status, headers, body)
    local backend = "none"
    for name, value in pairs(headers) do
        if name:lower() == "x-backend" then
            backend = value
        end
    end
    backends[backend] = (backends[backend] or 0) + 1
    if status ~= 200 then
        refused = refused + 1
    elseif expected and body ~= expected then
        wrong = wrong + 1
    end
    counts = "" -- as text, for other threads
    for name, count in pairs(backends) do
        counts = counts .. name .. "=" .. count .. ";"
    end
end

function done(summary, latency, requests)
    local total, wrong_ones, refused_ones = {}, 0, 0
    for _, thread in ipairs(threads) do
        wrong_ones = wrong_ones + thread:get("wrong")
        refused_ones = refused_ones + thread:get("refused")
        for name, count in thread:get("counts"):gmatch("([^=;]+)=(%d+);") do
            total[name] = (total[name] or 0) + tonumber(count)
        end
    end
    for name, count in pairs(total) do
        print(string.format("Answers from %s: %d", name, count))
    end
    print(string.format("Answers with another status than 200: %d", refused_ones))
    print(string.format("Answers with other bytes than expected: %d", wrong_ones))
    print(string.format("Latency p50 %.2f ms, p99 %.2f ms, max %.2f ms", latency:percentile(50) / 1000,
        latency:percentile(99) / 1000, latency.max / 1000))
end
