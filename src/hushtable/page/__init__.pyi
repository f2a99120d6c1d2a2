from .desk import Desk as Desk
from .server import PageServer as PageServer
