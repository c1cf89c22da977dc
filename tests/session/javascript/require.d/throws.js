throw new RangeError('of the file')
