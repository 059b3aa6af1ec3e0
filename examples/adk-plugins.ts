/** Callbacks and plugins: a gate before the model, and a cache before a tool. */
import assert from 'node:assert/strict';
import {
  App,
  BasePlugin,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  contentText,
} from 'petrichor/adk';
import type { CallbackContext } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

let lookups = 0;
const price = new FunctionTool({
  name: 'price',
  description: 'The price of a coat',
  execute: () => ({ cents: ++lookups * 1000 }),
});

const seller = new LlmAgent({
  name: 'seller',
  model: new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name: 'price' }] }
      : { text: 'There it is.' },
  ),
  tools: [price],
  // A callback of this agent: its return value replaces the tool's result.
  beforeToolCallback: ({ tool, context }) => context.state.get(`price:${tool.name}`),
  afterToolCallback: ({ tool, response, context }) => {
    context.state.set(`price:${tool.name}`, response);
  },
});

/** A plugin's callbacks run for every agent of the app, before the agents' own callbacks. */
class Gate extends BasePlugin {
  readonly asked: string[] = [];

  constructor() {
    super('gate');
  }

  override async beforeModelCallback({
    callbackContext,
  }: {
    readonly callbackContext: CallbackContext;
  }): Promise<undefined> {
    this.asked.push(callbackContext.agentName);
    if (contentText(callbackContext.userContent).includes('forbidden'))
      callbackContext.actions.endInvocation(); // ends the whole invocation: no model, tool or agent continues
  }
}

const gate = new Gate();
await using runner = new InMemoryRunner({
  app: new App({ name: 'shop', rootAgent: seller, plugins: [gate] }),
});
await runner.runDebug(['What is a coat?', 'And now?']);
assert.equal(lookups, 1); // the second answer came from state
assert.equal(gate.asked.length, 4);

const events = await runner.runDebug('Something forbidden');
console.log(events.length, 'events');
assert.ok(events.every(({ content }) => content === undefined));
