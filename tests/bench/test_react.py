"""The ReAct baseline: a thought, a call, an observation, until it is done or goes in a circle."""

from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.agent import Agent
from plait.bench.baselines.react import ReactTask, react
from plait.events import LoopBroken
from plait.models.budget import Budget, Limits
from plait.models.protocol import Settings
from plait.models.scripted import ScriptedModel
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.functions import from_function, tool


@tool(effect="reads")
def square(number: int) -> int:
    """Return the square of a number."""
    return number * number


CALL = "# thought: I square it.\nsquare(number=17)"


def work(model: ScriptedModel) -> ReactTask:
    tools = [from_function(square, source="tests")]
    agent = Agent(
        role="react", strand="baseline", model=model, budget=Budget(Limits()), settings=Settings(seed=0)
    )
    executor = Executor(tools, ApprovalPolicy())
    return ReactTask(task="What is 17 squared?", notes="", tools=tools, executor=executor, agent=agent)


async def test_each_observation_is_in_the_next_prompt_and_done_gives_the_answer() -> None:
    async with ScriptedModel([CALL, '# thought: There it is.\ndone(result="289")']) as model:
        assert await react(MemoryJournal(Memory()), work(model)) == "289"
        last = model.requests[1].messages
    assert [message.role for message in last] == ["system", "user", "assistant", "user"]
    assert last[2].content == CALL
    assert "289" in last[3].content


async def test_a_reply_that_cannot_be_read_is_asked_again_with_the_error_in_its_place() -> None:
    async with ScriptedModel(["cube(number=3)", 'done(result="27")']) as model:
        assert await react(MemoryJournal(Memory()), work(model)) == "27"
        assert "cube" in model.requests[1].messages[-1].content
        assert len(model.requests[1].messages) == 2


async def test_the_same_turn_a_third_time_ends_it() -> None:
    memory = Memory()
    async with ScriptedModel([CALL] * 3) as model:
        assert await react(MemoryJournal(memory), work(model)) == ""
    [broken] = memory.of(LoopBroken)
    assert broken.times == 3
