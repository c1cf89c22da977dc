import random
import statistics as st

random.seed(42)
values = [random.gauss(10, 2) for _ in range(200)]
print(st.mean(values), st.stdev(values), st.median(values), st.quantiles(values, n=4))
print(st.mode('aabbb'), st.multimode([1, 1, 2, 2]), st.harmonic_mean([40, 60]),
      st.NormalDist(0, 1).cdf(1.96))
print(random.sample(range(100), 5), random.choices('abc', [1, 2, 3], k=6),
      random.randrange(10 ** 30))
deck = list(range(8))
random.shuffle(deck)
print(deck, random.Random('text').random(), random.getrandbits(100))
print(st.linear_regression([1, 2, 3], [2, 4, 6.5]), st.correlation([1, 2, 3], [3, 2, 2]))
st.mean([])
