import { agent } from '../../src/agents/index.ts';
import type { Agent, AgentDefinition } from '../../src/agents/index.ts';
import { sessionWrite } from '../../src/agents/index.ts';
import { getFunctionCalls, getFunctionResponses, contentText } from '../../src/core/index.ts';
import type { Content } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { allOf, net, place, pure } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool, ToolContext, ToolDefinition } from '../../src/tools/index.ts';
import type { Effect, CallRequest } from './host-messages.ts';

/** The side effects of a host's tools. */
export interface World {
  readonly note: (effect: Omit<Effect, 'run'>) => void;
  /** Resolves when the parent sends `release` with this text. */
  readonly hold: (text: string, signal: AbortSignal) => Promise<void>;
  readonly exit: () => void;
}

const parameters = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const;

function createTools(world: World): readonly Tool[] {
  const acting = (
    name: CallRequest['name'],
    more: Partial<ToolDefinition<typeof parameters>>,
    work: (text: string, context: ToolContext) => unknown = () => undefined,
  ): Tool =>
    tool({
      name,
      description: 'Acts on the world.',
      parameters,
      ...more,
      execute: async ({ text }, context) => {
        const { callId, attempt } = context;
        world.note({ what: 'began', tool: name, callId, attempt });
        await work(String(text), context);
        world.note({ what: 'did', tool: name, callId, attempt });
        return { did: text };
      },
    });
  return [
    acting('note', { idempotent: true }, (_, { state }) => state.increment('notes')),
    acting('pay', { needsApproval: true, onCrash: 'unknown' }),
    acting('slow', { readOnly: true }, (text, { signal }) => world.hold(text, signal)),
    acting('stuck', { onCrash: 'unknown' }, (text, { signal }) => world.hold(text, signal)),
    acting('exit', { onCrash: 'rerun' }, () => world.exit()),
  ];
}

/** An agent that makes the calls in each message, a JSON list, and then answers with the contents of its history. */
function clerk(world: World, more: Partial<AgentDefinition> = {}): Agent {
  const model = new ScriptedModel(({ contents }) => {
    checkHistory(contents);
    const last = contents.at(-1);
    const requests: readonly CallRequest[] =
      last?.role === 'user' ? JSON.parse(contentText(last)) : [];
    if (requests.length > 0)
      return { toolCalls: requests.map(({ name, text }) => ({ name, args: { text } })) };
    return { text: `Saw ${countContents(contents.map(({ role }) => role))}` };
  });
  return agent({ name: 'clerk', model, tools: createTools(world), ...more });
}

/** Counts the contents of a prompt by role, to compare them with the log. */
export function countContents(roles: readonly Content['role'][]): string {
  const count = (role: Content['role']): number => roles.filter((one) => one === role).length;
  return `${count('user')} messages, ${count('model')} answers, ${count('tool')} results`;
}

/** Checks that each call has exactly one result, right after it and in order, and that there is no other result. */
function checkHistory(contents: readonly Content[]): void {
  for (const [index, content] of contents.entries()) {
    const next = contents[index + 1];
    const calls = getFunctionCalls(content).map(({ id }) => id);
    const answers = next === undefined ? [] : getFunctionResponses(next).map(({ id }) => id);
    if (JSON.stringify(calls) !== JSON.stringify(answers))
      throw new Error(`History ${index}: calls ${calls.join()} have the answers ${answers.join()}`);
    // Two messages in a row: the turn of the first was given up after three processes died in its model call.
    const isNext = next === undefined || allowed[content.role].includes(next.role);
    if (!isNext) throw new Error(`History ${index}: ${content.role} is followed by ${next.role}`);
  }
}

const allowed: Readonly<Record<Content['role'], readonly Content['role'][]>> = {
  user: ['model', 'user'],
  model: ['tool', 'user'],
  tool: ['model', 'user'],
};

const text = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'string' ? { value } : { issues: [{ message: 'must be text' }] },
  },
} as const;

/** Keeps letters in a place with this name until the box is opened. */
function letterBox(placeName: string): Net {
  const letter = place(placeName, text, { environment: true, owed: true, version: 1 });
  const opened = place('box.opened', text, { environment: true, version: 1 });
  return net('letter-box', {
    in: { letter, opened },
    out: { sessionWrite },
    transitions: [
      pure('box.empty', {
        take: { letter, opened },
        give: allOf({ write: sessionWrite }),
        run: ({ letter, opened }) => ({
          write: { writes: { set: { [String(opened)]: String(letter) } } },
        }),
      }),
    ],
  });
}

/** The agents that a host can be deployed with. All have the same name, so a deployment replaces one by another. */
export const variants: Readonly<Record<string, (world: World) => Agent>> = {
  plain: (world) => clerk(world),
  'with-another-tool': (world) =>
    clerk(world, {
      tools: [
        ...createTools(world),
        tool({ name: 'extra', description: 'New.', execute: () => 'new' }),
      ],
    }),
  'with-a-box': (world) => clerk(world, { extensions: [letterBox('box.letters')] }),
  'with-a-renamed-box': (world) =>
    clerk(world, {
      extensions: [letterBox('box.mail')],
      migrate: () => ({ moved: { 'box.letters': 'box.mail' } }),
    }),
  'with-a-box-renamed-carelessly': (world) => clerk(world, { extensions: [letterBox('box.mail')] }),
};
