"""The corpus that is always there: modules of the running Python's standard library, an explicit list.

About 2.9 MB of English and Python that everybody has and nobody must download. The files differ a little
from one Python to the next, so the hash of what was read is what a run records. The list holds only files
that CPython 3.11, 3.12 and 3.13 all have on every platform: no tests, nothing generated, no big tables.
"""

import sysconfig
from pathlib import Path

NAME = "python-stdlib"

_LISTING = """
__future__.py _markupbase.py _strptime.py _threading_local.py _weakrefset.py abc.py argparse.py ast.py
asyncio/events.py asyncio/futures.py asyncio/locks.py asyncio/queues.py asyncio/runners.py
asyncio/streams.py base64.py bdb.py bisect.py bz2.py cmd.py code.py codecs.py codeop.py
collections/__init__.py colorsys.py compileall.py concurrent/futures/_base.py
concurrent/futures/thread.py configparser.py contextlib.py copy.py copyreg.py csv.py dataclasses.py
dbm/dumb.py email/charset.py email/encoders.py email/feedparser.py email/generator.py email/header.py
email/parser.py email/utils.py filecmp.py fileinput.py fnmatch.py fractions.py functools.py
genericpath.py getopt.py getpass.py gettext.py glob.py graphlib.py gzip.py hashlib.py heapq.py hmac.py
html/__init__.py html/parser.py http/client.py http/cookies.py importlib/__init__.py importlib/abc.py
importlib/util.py inspect.py io.py json/__init__.py json/decoder.py json/encoder.py json/scanner.py
json/tool.py keyword.py linecache.py logging/__init__.py logging/config.py lzma.py mimetypes.py
modulefinder.py multiprocessing/context.py multiprocessing/process.py multiprocessing/queues.py netrc.py
numbers.py opcode.py operator.py os.py pkgutil.py poplib.py posixpath.py pprint.py profile.py pstats.py
py_compile.py pyclbr.py queue.py quopri.py random.py re/__init__.py re/_compiler.py reprlib.py
rlcompleter.py runpy.py sched.py selectors.py shelve.py shlex.py shutil.py signal.py socketserver.py
sqlite3/dump.py stat.py statistics.py string.py struct.py symtable.py tabnanny.py tempfile.py
textwrap.py threading.py timeit.py token.py tokenize.py tomllib/_parser.py trace.py traceback.py
tracemalloc.py types.py unittest/loader.py unittest/main.py unittest/result.py unittest/runner.py
unittest/suite.py urllib/error.py urllib/parse.py urllib/response.py urllib/robotparser.py uuid.py
warnings.py wave.py weakref.py wsgiref/handlers.py wsgiref/headers.py wsgiref/simple_server.py
wsgiref/util.py xml/etree/ElementInclude.py xml/etree/ElementPath.py xml/sax/handler.py
xml/sax/saxutils.py xml/sax/xmlreader.py zipapp.py zoneinfo/_zoneinfo.py
"""
MODULES = tuple(_LISTING.split())


def stdlib_documents() -> tuple[list[str], list[str]]:
    """The texts of `MODULES` in order, and the names of those this installation lacks."""
    home = Path(sysconfig.get_path("stdlib"))
    present = [module for module in MODULES if (home / module).is_file()]
    missing = [module for module in MODULES if module not in present]
    return [(home / module).read_text(encoding="utf-8") for module in present], missing
