import abc
import dataclasses
import enum


class Shape(abc.ABC):
    known = []

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        Shape.known.append(cls.__name__)

    @abc.abstractmethod
    def area(self): ...

    @property
    def double(self):
        return 2 * self.area()

    def __lt__(self, other):
        return self.area() < other.area()


@dataclasses.dataclass(order=False)
class Square(Shape):
    side: float = 1
    tags: list = dataclasses.field(default_factory=list, compare=False)

    def area(self):
        return self.side ** 2


@dataclasses.dataclass(frozen=True)
class Circle(Shape):
    radius: float

    def area(self):
        return round(3.14159 * self.radius ** 2, 3)


class Colour(enum.Flag):
    RED = enum.auto()
    BLUE = enum.auto()


print(Square(2, ['a']), Circle(1.5).double, Square(2) == Square(2, ['b']), Shape.known,
      Square.__mro__)
print(sorted([Circle(1), Square(1)]), dataclasses.asdict(Square(3)), Colour.RED | Colour.BLUE,
      Colour(2))
print(Square.__module__, Circle.__qualname__,
      type('Made', (Shape,), {'area': lambda self: 1})().double)
match Square(4):
    case Square(side=side) if side > 3:
        print('large', side)
Circle(1).radius = 5
