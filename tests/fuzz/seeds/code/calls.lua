--[==[ load(x) ]] ]==]
os["execute"] "x"; require "socket.http"
local s = [=[ io.popen() ]=] .. debug.getinfo(1)
