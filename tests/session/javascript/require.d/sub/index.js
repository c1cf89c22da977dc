module.exports='index of sub'
