import {
  allOf,
  append,
  effect,
  initialToken,
  listPlace,
  net,
  oneOf,
  outlet,
  place,
  pure,
  upTo,
} from 'petrichor/net';
import type { ListPlace, Net, Outlet, TokenPlace, Transition } from 'petrichor/net';
import { z } from 'zod';

/** Something said in the generation it was asked in. */
export interface GenerationMessage {
  readonly generation: number;
  readonly by: string;
  readonly text: string;
}

/** Work of one turn. It cannot be called back: its result comes, late or not. */
export interface GenerationRequest {
  readonly generation: number;
  readonly text: string;
}

export interface StaleResultsServices {
  /** What the model says, chunk by chunk. */
  readonly stream: (asked: GenerationRequest) => Promise<readonly string[]>;
  readonly tool: (asked: GenerationRequest) => Promise<string>;
  /** Something to say while the others work. */
  readonly filler: (asked: GenerationRequest) => Promise<string>;
}

const MAX_TOOLS = 4;
const MAX_CHUNKS = 8;
const messageSchema = z.object({ generation: z.int(), by: z.string(), text: z.string() });
const askedSchema = z.object({ generation: z.int(), text: z.string() });

/** (Seed name: USER_NEW_TURN.) */
export const turnIn: TokenPlace<{ text: string; tools: readonly string[] }> = place(
  'turn.in',
  z.object({ text: z.string(), tools: z.array(z.string()).max(MAX_TOOLS).readonly() }),
  { environment: true },
);
/** Which generation is the latest: one token, always. (Seed name: LATEST_GENERATION.) */
export const generation: TokenPlace<number> = place('generation.latest', z.int());
/** What the model is shown next time. */
export const conversation: ListPlace<GenerationMessage> = listPlace('conversation', messageSchema);
export const staleOut: Outlet<GenerationMessage> = outlet('result.stale', messageSchema);

/**
 * Several kinds of work are in flight at once, and each has a place where its result would enter the history. Every such
 * site reads the one generation token in the firing that commits, so one new turn makes all that is in flight stale.
 */
export function staleResults({ stream, tool, filler }: StaleResultsServices): Net {
  const modelAsked = place('model.asked', askedSchema);
  const toolAsked = place('tool.requested', askedSchema);
  const fillerAsked = place('filler.asked', askedSchema);
  const chunk = place('model.chunk', messageSchema);
  const result = place('tool.result', messageSchema);
  const filling = place('filler.ready', messageSchema);

  const bump = pure('generation.bump', {
    take: { turn: turnIn, generation },
    give: allOf({
      generation,
      said: append(conversation),
      model: modelAsked,
      tools: upTo(MAX_TOOLS, toolAsked),
      filler: fillerAsked,
    }),
    // Before anything of the turn before could be committed.
    priority: 100,
    run: ({ turn: { text, tools }, generation: last }) => {
      const latest = last + 1;
      return {
        generation: latest,
        said: [{ generation: latest, by: 'user', text }],
        model: { generation: latest, text },
        tools: tools.map((one) => ({ generation: latest, text: one })),
        filler: { generation: latest, text },
      };
    },
  });

  const streaming = effect('model.stream', {
    take: { asked: modelAsked },
    give: allOf({ chunks: upTo(MAX_CHUNKS, chunk) }),
    failed: () => ({}),
    run: async ({ asked }) => ({
      chunks: (await stream(asked)).map((text) => toMessage(asked, 'model', text)),
    }),
  });

  const tooling = effect('tool.run', {
    take: { asked: toolAsked },
    give: allOf({ result }),
    failed: ({ message }, { asked }) => ({ result: toMessage(asked, 'tool', message) }),
    run: async ({ asked }) => ({ result: toMessage(asked, 'tool', await tool(asked)) }),
  });

  const fill = effect('filler.write', {
    take: { asked: fillerAsked },
    give: allOf({ filling }),
    failed: (_, { asked }) => ({ filling: toMessage(asked, 'filler', 'One moment.') }),
    run: async ({ asked }) => ({ filling: toMessage(asked, 'filler', await filler(asked)) }),
  });

  // A result that is committed asks the model again; a stale one asks nobody.
  const commitResult = pure('result.commit', {
    take: { result },
    read: { latest: generation },
    give: oneOf({
      committed: allOf({ said: append(conversation), again: modelAsked }),
      stale: staleOut,
    }),
    run: ({ result, latest }) =>
      result.generation === latest
        ? { committed: { said: [result], again: { generation: latest, text: result.text } } }
        : { stale: result },
  });

  return net('stale-results', {
    in: { turnIn },
    out: { conversation, staleOut },
    initial: [initialToken(generation, 0)],
    transitions: [
      bump,
      streaming,
      tooling,
      fill,
      commitSite('chunk.commit', chunk),
      commitSite('filler.commit', filling),
      commitResult,
    ],
  });
}

/** One more place where something enters the history: the same read, the same two ways. */
export function commitSite(name: string, from: TokenPlace<GenerationMessage>): Transition {
  return pure(name, {
    take: { result: from },
    read: { latest: generation },
    give: oneOf({ committed: append(conversation), stale: staleOut }),
    run: ({ result, latest }) =>
      result.generation === latest ? { committed: [result] } : { stale: result },
  });
}

function toMessage({ generation }: GenerationRequest, by: string, text: string): GenerationMessage {
  return { generation, by, text };
}
