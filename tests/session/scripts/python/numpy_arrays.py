import numpy as np

rng = np.random.default_rng(1)
a = rng.normal(size=(3, 4)).round(3)
print(a, a.mean(axis=0).round(3), a[a > 0].size, np.linalg.solve(np.eye(2) * 2, [1, 2]))
x = np.arange(10.)
print(np.polyfit(x, 3 * x + 1, 1).round(6), np.where(x % 2, 'odd', 'even')[:3],
      x.reshape(2, 5).T.shape)
np.savetxt('table.txt', a, fmt='%.3f')
print(np.loadtxt('table.txt').sum().round(3), np.array(['2024-01-31'], 'datetime64[D]') + 1)
print(np.array([1, 2]) / 0, np.zeros((2, 0)), np.array([1, 'a', None], object))
np.array([1, 2]) + np.array([1, 2, 3])
