import logging
import warnings

logging.basicConfig(level=logging.INFO)
logging.info('to standard error')
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    warnings.warn('careful', DeprecationWarning)
print(caught[0].message, caught[0].category.__name__, caught[0].lineno)
warnings.warn('to standard error')
warnings.simplefilter('error')
warnings.warn('as an error')
