import { z } from 'zod';
import type { Program } from '../kit.ts';

/** Combinations of agents, tools, artifacts and streams. */
export const morePrograms: readonly Program[] = [
  {
    name: 'a tool that saves and loads an artifact',
    area: 'artifacts',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({
            name: 'file',
            description: 'Files a report.',
            execute: async (_, view) => {
              await view.saveText('report.txt', 'All is well.');
              return { text: (await view.loadText('report.txt')) ?? '' };
            },
          }),
        ],
        script: [{ calls: [{ name: 'file' }] }, { text: 'Filed.' }],
      }),
    turns: ['File it.'],
  },
  {
    name: 'a stream before a tool call',
    area: 'agents',
    streaming: true,
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [kit.tool({ name: 'look', description: 'Looks.', execute: () => ({ seen: 1 }) })],
        script: [
          { pieces: ['I ', 'look.'], text: 'I look.', calls: [{ name: 'look' }] },
          { pieces: ['One.'], text: 'One.' },
        ],
      }),
    turns: ['Look.'],
  },
  {
    name: 'a sequence in a sequence',
    area: 'sequences',
    root: (kit) =>
      kit.sequential({
        name: 'outer',
        subAgents: [
          kit.sequential({
            name: 'inner',
            subAgents: [
              kit.llm({ name: 'first', outputKey: 'one', script: [{ text: 'One.' }] }),
              kit.llm({ name: 'second', instruction: 'After {one}', script: [{ text: 'Two.' }] }),
            ],
          }),
          kit.llm({ name: 'third', script: [{ text: 'Three.' }] }),
        ],
      }),
    turns: ['Count.'],
  },
  {
    name: 'a tree of three levels',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        description: 'Takes requests.',
        subAgents: [
          kit.llm({
            name: 'billing',
            description: 'Knows bills.',
            subAgents: [
              kit.llm({
                name: 'refunds',
                description: 'Refunds.',
                script: [{ text: 'Refunded.' }],
              }),
            ],
            script: [{ calls: [{ name: 'transfer_to_agent', args: { agentName: 'refunds' } }] }],
          }),
        ],
        script: [{ calls: [{ name: 'transfer_to_agent', args: { agentName: 'billing' } }] }],
      }),
    turns: ['Refund me.'],
  },
  {
    name: 'a tool before a transfer',
    area: 'transfer',
    root: (kit) =>
      kit.llm({
        name: 'front',
        tools: [
          kit.tool({
            name: 'find',
            description: 'Finds.',
            parameters: z.object({ order: z.string() }),
            execute: ({ order = '' }) => ({ order }),
          }),
        ],
        subAgents: [
          kit.llm({ name: 'billing', description: 'Knows bills.', script: [{ text: 'Five.' }] }),
        ],
        script: [
          { calls: [{ name: 'find', args: { order: 'A-7' } }] },
          { calls: [{ name: 'transfer_to_agent', args: { agentName: 'billing' } }] },
        ],
      }),
    turns: ['A-7?'],
  },
  {
    name: 'a plugin around every agent',
    area: 'plugins',
    root: (kit) =>
      kit.sequential({
        name: 'team',
        subAgents: [
          kit.llm({ name: 'writer', script: [{ text: 'A draft.' }] }),
          kit.llm({ name: 'reviewer', script: [{ text: 'Good.' }] }),
        ],
      }),
    plugins: (kit) => [kit.plugin({ name: 'upper', afterModel: (_, text) => text.toUpperCase() })],
    turns: ['Write.'],
  },
];
