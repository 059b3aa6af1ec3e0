import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';

/** Calls its one tool, which may run again after a crash, and returns the text of its result. */
export function mapReader(read: () => unknown): Agent {
  return agent({
    name: 'map_reader',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'read_map' }] }
        : { text: 'It is there.' },
    ),
    tools: [tool({ name: 'read_map', description: 'Reads.', readOnly: true, execute: read })],
  });
}
