import * as v from 'valibot';
import { agent, sessionWrite } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { allOf, net, place, pure } from '../../src/net/index.ts';
import type { TokenPlace } from '../../src/net/index.ts';
import { App, BaseEventsSummarizer, LlmAgent } from '../../src/adk/index.ts';
import type { Event } from '../../src/adk/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

/** When the released version wrote its sessions (epoch ms). */
export const RELEASED_AT = 1_760_000_000_000;

export const HOUR_MS = 3_600_000;

/** Calls the tools of a message `call a b`, answers the text after `say`, and fails for one hour after `fail`. */
export function obedientModel(isDown: () => boolean): Model {
  const scripted = new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    if (last?.role !== 'user') return { text: `Done with ${contents.length} messages.` };
    const [verb, ...names] = contentText(last).split(' ');
    return verb === 'call'
      ? { toolCalls: names.map((name) => ({ name })) }
      : { text: `Heard ${contents.length} messages.` };
  });
  return {
    name: 'obedient',
    generate: async (request, context) => {
      if (isDown() && contentText(request.contents.at(-1)) === 'fail')
        throw new ModelError({
          model: 'obedient',
          kind: 'overloaded',
          message: 'Come back later.',
          retryAfterMs: 30_000,
        });
      return scripted.generate(request, context);
    },
  };
}

/** The tools of the released sessions. `ran` is called when one runs. */
export function releasedTools(ran: (name: string) => Promise<unknown>): readonly Tool[] {
  return [
    tool({ name: 'look', description: 'Looks.', readOnly: true, execute: async () => ran('look') }),
    tool({ name: 'pay', description: 'Pays.', execute: async () => ran('pay') }),
    tool({
      name: 'delete',
      description: 'Deletes.',
      needsApproval: true,
      execute: async () => ran('delete'),
    }),
    tool({ name: 'ask', description: 'Asks somebody.', timeoutMs: HOUR_MS }),
  ];
}

export function releasedAgent(model: Model, tools: readonly Tool[]): Agent {
  return agent({ name: 'desk', model, tools, instruction: 'Obey.' });
}

/** The place for reminders. */
export const reminderSet: TokenPlace<{ readonly of: string }> = place(
  'reminder.set',
  v.object({ of: v.string() }),
  { environment: true, version: 1 },
);

/** Writes a reminder to the session's state an hour after it was set. */
const reminders = net('reminders', {
  in: { reminderSet },
  out: { sessionWrite },
  transitions: [
    pure('reminder.fire', {
      take: { reminder: reminderSet },
      after: HOUR_MS,
      give: allOf({ write: sessionWrite }),
      run: ({ reminder }) => ({ write: { writes: { set: { remindedOf: reminder.of } } } }),
    }),
  ],
});

export function reminderAgent(model: Model): Agent {
  return agent({ name: 'reminder', model, extensions: [reminders] });
}

class CountingSummarizer extends BaseEventsSummarizer {
  override async summarizeEvents({
    events,
  }: {
    readonly events: readonly Event[];
  }): Promise<Event | undefined> {
    const [first] = events;
    const text = `Before this, ${events.length} events.`;
    return first && { ...first, content: { role: 'user', parts: [{ text }] } };
  }
}

export function releasedApp(model: Model, tools: readonly Tool[]): App {
  return new App({ name: 'desk', rootAgent: adkAgent(model, tools) });
}

/** The same app with a summary of every two invocations. */
export function compactingApp(model: Model, tools: readonly Tool[]): App {
  return new App({
    name: 'compacting',
    rootAgent: adkAgent(model, tools),
    eventsCompactionConfig: {
      compactionInterval: 2,
      overlapSize: 1,
      summarizer: new CountingSummarizer(),
    },
  });
}

function adkAgent(model: Model, tools: readonly Tool[]): LlmAgent {
  return new LlmAgent({ name: 'desk', model, tools: [...tools], instruction: 'Obey.' });
}

/** The definition of the managed sessions. */
export const RELEASED_DEFINITION = {
  name: 'desk',
  model: 'gemini-2.5-flash',
  instructions: 'Obey.',
  tools: [
    { type: 'builtin', name: 'look' },
    { type: 'builtin', name: 'pay' },
    { type: 'builtin', name: 'delete' },
    { type: 'custom', name: 'ask', description: 'Asks.', input_schema: { type: 'object' } },
  ],
  permission_policy: { default: 'auto_approve', tools: { delete: 'prompt' } },
} as const;

/** The built-in tools of the managed runtime: all except the one that the client answers. */
export function toBuiltIns(tools: readonly Tool[]): (name: string) => Promise<readonly Tool[]> {
  return async (name) => tools.filter((one) => one.name === name && name !== 'ask');
}
