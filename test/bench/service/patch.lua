-- Every request sets another quantity.
local quantity = 0
wrk.method = "PATCH"
wrk.headers["Content-Type"] = "application/json"

function request()
  quantity = (quantity + 1) % 100000
  return wrk.format(nil, nil, nil, '{"quantity":' .. quantity .. "}")
end
