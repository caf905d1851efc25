"""langchain-openai: ChatOpenAI with another address, its tools and its structured outputs."""
import json, os

os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false")
import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from served import same
from words import QUESTION, Word, meaning, refusal


@tool
def look_up(word: str) -> str:
    """Looks a word up."""
    return meaning(word)


def run(checks, server, program):
    def chat(name="jargon", key=server.key, **arguments):
        return ChatOpenAI(model=name, base_url=server.url + "/v1", api_key=key, max_retries=0,
                          **{"temperature": 0, "max_tokens": 60, "seed": 1, **arguments})

    def check(message):
        """An answer is a call, or a value of the form."""
        if message.tool_calls:
            assert not message.invalid_tool_calls, message
            for call in message.tool_calls:
                same((call["name"], list(call["args"])), ("look_up", ["word"]))
        else:
            assert isinstance(message.additional_kwargs["parsed"], Word), message

    with checks("langchain: invoke and stream have the text of skein generate"):
        for name in ("base", "jargon"):
            alone = program.generate(name, QUESTION, 24)
            answer = chat(name, max_tokens=24).invoke(QUESTION)
            same(answer.content, alone["text"])
            same(answer.usage_metadata["output_tokens"], len(alone["tokens"]))
            pieces = list(chat(name, max_tokens=24, stream_usage=True).stream(QUESTION))
            same("".join(piece.content for piece in pieces), alone["text"])
            same(sum(piece.usage_metadata["output_tokens"] for piece in pieces if piece.usage_metadata), len(alone["tokens"]))

    with checks("langchain: a batch has the answers that each request has alone"):
        questions = [QUESTION, "What is foo?", "What is a nybble?"]
        same([message.content for message in chat(max_tokens=16).batch(questions)],
             [chat(max_tokens=16).invoke(question).content for question in questions])

    for method in ("json_schema", "function_calling", "json_mode"):
        with checks(f"langchain: with_structured_output by {method}"):
            for seed in range(2):
                kind = Word if method != "json_mode" else None
                model = chat(temperature=1, seed=seed).with_structured_output(kind, method=method)
                try:
                    value = model.invoke("Describe a kludge as JSON.")
                except openai.LengthFinishReasonError as error:
                    # JSON of any shape may be long: it is whole, though the limit closed it.
                    same(method, "json_mode")
                    value = json.loads(error.completion.choices[0].message.content)
                assert isinstance(value, kind or dict), value

    with checks("langchain: tools, any and auto, whole and streamed"):
        for choice in ("any", "auto", "look_up"):
            model = chat().bind_tools([look_up], tool_choice=choice, strict=True)
            message = model.invoke(QUESTION)
            assert choice == "auto" or message.tool_calls, message
            whole = None
            for piece in model.stream(QUESTION):
                whole = piece if whole is None else whole + piece
            same([(call["name"], call["args"]) for call in whole.tool_calls],
                 [(call["name"], call["args"]) for call in message.tool_calls])
            same(whole.content, message.content)

    with checks("langchain: what a tool returns goes back, and a text follows"):
        asked = HumanMessage(QUESTION)
        call = chat().bind_tools([look_up], tool_choice="any", parallel_tool_calls=False).invoke([asked])
        answered = look_up.invoke(call.tool_calls[0])
        assert isinstance(answered, ToolMessage), answered
        final = chat().bind_tools([look_up], tool_choice="none").invoke([asked, call, answered])
        assert final.content and not final.tool_calls, final

    with checks("langchain: bind_tools with response_format: a call, or a value of the form"):
        for choice in ("auto", "any", "none"):
            # One call: calls that follow each other up to the limit are an error to this client.
            model = chat().bind_tools([look_up], tool_choice=choice, strict=True, response_format=Word,
                                      parallel_tool_calls=False)
            message = model.invoke(QUESTION)
            check(message)
            assert choice == "auto" or bool(message.tool_calls) == (choice == "any"), message

    with checks("langchain: with_structured_output with tools"):
        model = chat().with_structured_output(Word, method="json_schema", tools=[look_up], strict=True, include_raw=True)
        found = model.invoke(QUESTION)
        assert found["parsing_error"] is None, found
        assert isinstance(found["parsed"], Word) or found["raw"].tool_calls, found

    with checks("langchain: log-probabilities"):
        answer = chat(logprobs=True, top_logprobs=3, max_tokens=12).invoke(QUESTION)
        tokens = answer.response_metadata["logprobs"]["content"]
        same("".join(token["token"] for token in tokens), answer.content)
        assert all(len(token["top_logprobs"]) == 3 for token in tokens), tokens

    with checks("langchain: an unknown model, a wrong key, a field out of its range"):
        refusal(openai.NotFoundError, lambda: chat("nobody").invoke(QUESTION), "nobody")
        refusal(openai.AuthenticationError, lambda: chat(key="wrong").invoke(QUESTION))
        refusal(openai.BadRequestError, lambda: chat(temperature=-1).invoke(QUESTION), "temperature")

    with checks("langchain: the address and the key may come from the environment"):
        os.environ.update(OPENAI_API_BASE=server.url + "/v1", OPENAI_API_KEY=server.key)
        try:
            same(ChatOpenAI(model="jargon", temperature=0, max_tokens=24).invoke(QUESTION).content,
                 program.generate("jargon", QUESTION, 24)["text"])
        finally:
            del os.environ["OPENAI_API_BASE"], os.environ["OPENAI_API_KEY"]
