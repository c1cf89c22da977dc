print('false is status 1')
os.exit(false, true)
