import { z } from 'zod';
import type { MemorySpec, Program } from '../kit.ts';

const memories: readonly MemorySpec[] = [
  { author: 'user', text: 'My dog is called Rex.', at: Date.UTC(2026, 0, 5) },
  { author: 'desk', text: 'A fine name.', at: Date.UTC(2026, 0, 5) },
];

/** What agents know of earlier turns and sessions, and agents that run at the same time. */
export const memoryPrograms: readonly Program[] = [
  {
    name: 'load_memory finds a message of another session',
    area: 'memory',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [kit.shippedTool('LOAD_MEMORY')],
        script: [
          { calls: [{ name: 'load_memory', args: { query: 'dog' } }] },
          { text: 'Your dog is Rex.' },
        ],
      }),
    memories,
    turns: ['What is my pet called?'],
  },
  {
    name: 'preload_memory shows a message of another session',
    area: 'memory',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        instruction: 'Answer.',
        tools: [kit.shippedTool('PRELOAD_MEMORY')],
        script: [{ text: 'Rex.' }],
      }),
    memories,
    turns: ['Tell me about my dog'],
  },
  {
    name: 'a conversation that is summarized',
    area: 'compaction',
    compaction: { tokenThreshold: 60, summary: 'The user heard a story.', beforeTurn: 3 },
    root: (kit) =>
      kit.llm({
        name: 'teller',
        script: [
          { text: 'Good day.' },
          { text: 'Once upon a time. '.repeat(30) },
          { text: 'Rex.' },
        ],
      }),
    turns: ['Hello.', 'Tell me a story.', 'Who is in it?'],
  },
  {
    name: 'agents in parallel that call tools',
    area: 'parallel',
    concurrent: true,
    root: (kit) =>
      kit.parallel({
        name: 'both',
        subAgents: ['left', 'right'].map((name) =>
          kit.llm({
            name,
            tools: [
              kit.tool({
                name: `look_${name}`,
                description: 'Looks.',
                parameters: z.object({ at: z.string() }),
                execute: ({ at = '' }, view) => {
                  view.set(name, at);
                  return { seen: at };
                },
              }),
            ],
            script: [
              { calls: [{ name: `look_${name}`, args: { at: name } }] },
              { text: `I saw ${name}.` },
            ],
          }),
        ),
      }),
    turns: ['Look.'],
  },
  {
    name: 'a sequence beside an agent in parallel, and a second turn',
    area: 'parallel',
    concurrent: true,
    root: (kit) =>
      kit.parallel({
        name: 'both',
        subAgents: [
          kit.sequential({
            name: 'chain',
            subAgents: [
              kit.llm({ name: 'first', script: [{ text: 'One.' }, { text: 'Four.' }] }),
              kit.llm({ name: 'second', script: [{ text: 'Two.' }, { text: 'Five.' }] }),
            ],
          }),
          kit.llm({ name: 'third', script: [{ text: 'Three.' }, { text: 'Six.' }] }),
        ],
      }),
    turns: ['Count.', 'Go on.'],
  },
];
