io.write('no newline')
io.stdout:flush()
os.exit(13)
