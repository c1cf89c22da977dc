let é = "� ", a = 1 await 𝒳
/* */ --> bx