"""A language model of a few hundred thousand weights, trained here: nothing is fetched.

It has learned the form of a task's answers and its words, and not which of them is asked for: in
half of its texts the answer is the verb, in half the topic. What an adapter has to learn is which.
"""

import json
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tests.support.students import made_up

STEPS = 200
BATCH = 16
RATE = 3e-3
WORDS = 600
TURN = "<turn>"
END = "<end>"
CHAT_TEMPLATE = (
    "{% for message in messages %}<turn>{{ message.role }}\n{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)


def write_base(
    folder: Path, *, system: str, user: str, steps: int = STEPS, dropout: float = 0.0
) -> None:
    """Train a model and write it with its tokenizer.

    Args:
        folder: which is made.
        system: what the task's prompts begin with.
        user: the rest of them, with ``{{text}}`` in it.
        steps: for how many it learns; 200 suffice to know what answers look like.
        dropout: which share of attention it leaves out by chance while something learns.
    """
    texts = [(user.replace("{{text}}", text), answer) for text, answer in _texts()]
    tokenizer = _tokenizer([system, *(part for text in texts[:200] for part in text)])
    model = _trained(tokenizer, system, texts[: steps * BATCH], dropout)
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)


def _texts() -> list[tuple[str, str]]:
    chance, texts = random.Random(5), []
    for value, output in made_up(STEPS * BATCH, seed=5):
        verb, topic = output["intent"].split("_")
        texts.append((value["text"], _answer(chance.choice((verb, topic)))))
    return texts


def _answer(word: str) -> str:
    return json.dumps({"intent": word}, separators=(",", ":"))


def _tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=WORDS,
            special_tokens=[END, TURN],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=END, pad_token=END, chat_template=CHAT_TEMPLATE
    )


def _trained(
    tokenizer: PreTrainedTokenizerFast,
    system: str,
    texts: list[tuple[str, str]],
    dropout: float,
) -> LlamaForCausalLM:
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            attention_dropout=dropout,
            max_position_embeddings=1_024,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
        )
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    steps = len(texts) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    model.train()
    for step in range(steps):
        some = texts[step * BATCH : (step + 1) * BATCH]
        loss = model(**_batch(tokenizer, system, some)).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return model.eval()


def _batch(tokenizer, system, some):
    rows = []
    for user, answer in some:
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]
        asked = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        question = tokenizer(asked, add_special_tokens=False)["input_ids"]
        said = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        rows.append((question + said, [-100] * len(question) + said))
    longest = max(len(ids) for ids, _ in rows)
    return {
        "input_ids": torch.tensor(
            [ids + [tokenizer.pad_token_id] * (longest - len(ids)) for ids, _ in rows]
        ),
        "attention_mask": torch.tensor(
            [[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in rows]
        ),
        "labels": torch.tensor([labels + [-100] * (longest - len(labels)) for _, labels in rows]),
    }
