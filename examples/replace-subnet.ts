/** Replaces a stock subnet of an agent: a prompt builder that takes card numbers out of messages first. */
import assert from 'node:assert/strict';
import { agent, openRuntime, contentText } from 'petrichor';
import type { Content } from 'petrichor';
import { userIn } from 'petrichor/agents';
import { allOf, compose, join, pure } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { ScriptedModel } from 'petrichor/testing';

// Messages enter at `user.in`, are cleaned, and go on at `user.clean`, from where the stock net takes them now.
const userClean = { ...userIn, name: 'user.clean', environment: false };

const clean = pure('message.clean', {
  take: { message: userIn },
  give: allOf({ message: userClean }),
  run: ({ message }) => ({ message: { ...message, content: withoutCards(message.content) } }),
});

const carefulPromptBuilder = (stock: Net): Net =>
  compose('careful-prompt-builder', {
    in: { ...stock.in, userIn },
    out: stock.out,
    nets: [stock],
    join: [join(userClean, userIn)],
    transitions: [clean],
  });

const model = new ScriptedModel(({ contents }) => ({
  text: `You said: ${contentText(contents.at(-1))}`,
}));
const desk = agent({
  name: 'desk',
  model,
  subnets: (stock) => ({ turnStart: carefulPromptBuilder(stock.turnStart) }),
});

await using runtime = await openRuntime({ agents: [desk] });
const session = await runtime.session('customer-7');
const messages: string[] = [];
for await (const event of session.send('My card is 4111 1111 1111 1111.')) {
  if (event.type === 'user.message' || event.type === 'agent.message')
    messages.push(contentText(event.content));
}
assert.deepEqual(messages, ['My card is [card].', 'You said: My card is [card].']);
console.log(messages.at(-1));

function withoutCards(content: Content): Content {
  const parts = content.parts.map((part) =>
    'text' in part
      ? { ...part, text: part.text.replaceAll(/\d(?:[ -]?\d){12,18}/g, '[card]') }
      : part,
  );
  return { ...content, parts };
}
