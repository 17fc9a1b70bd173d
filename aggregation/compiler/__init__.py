"""The compiler: a task spec in, a client task and a server config out, or every reason why not."""

from aggregation.compiler.compile import Compiled, Refused, compile_spec
from aggregation.compiler.diagnostics import Diagnostic
from aggregation.compiler.explain import Explanation

__all__ = ["Compiled", "Diagnostic", "Explanation", "Refused", "compile_spec"]
