import { z } from 'zod';
import type { Program } from '../kit.ts';

/** Tools that ADK ships. */
export const shippedToolPrograms: readonly Program[] = [
  {
    name: 'exit_loop ends a loop',
    area: 'shipped tools',
    root: (kit) =>
      kit.loop({
        name: 'refine',
        maxIterations: 5,
        subAgents: [
          kit.llm({
            name: 'critic',
            tools: [kit.shippedTool('EXIT_LOOP')],
            script: [{ text: 'Not yet.' }, { calls: [{ name: 'exit_loop' }] }],
          }),
        ],
      }),
    turns: ['Refine it.'],
  },
  {
    name: 'load_artifacts shows an artifact for one request',
    area: 'shipped tools',
    root: (kit) =>
      kit.llm({
        name: 'reader',
        instruction: 'Read.',
        tools: [
          kit.tool({
            name: 'write',
            description: 'Writes a note.',
            parameters: z.object({}),
            execute: async (_, view) => ({ version: await view.saveText('note.txt', 'Buy milk.') }),
          }),
          kit.shippedTool('LOAD_ARTIFACTS'),
        ],
        script: [
          { calls: [{ name: 'write' }] },
          { calls: [{ name: 'load_artifacts', args: { artifact_names: ['note.txt'] } }] },
          { text: 'Buy milk.' },
          { text: 'Still milk.' },
        ],
      }),
    turns: ['What is in the note?', 'And now?'],
  },
  {
    name: 'load_memory and preload_memory without memories',
    area: 'shipped tools',
    root: (kit) =>
      kit.llm({
        name: 'keeper',
        tools: [kit.shippedTool('LOAD_MEMORY'), kit.shippedTool('PRELOAD_MEMORY')],
        script: [
          { calls: [{ name: 'load_memory', args: { query: 'tulips' } }] },
          { text: 'I know nothing of tulips.' },
        ],
      }),
    turns: ['What do I like?'],
  },
  {
    name: 'examples in the instruction',
    area: 'shipped tools',
    root: (kit) =>
      kit.llm({
        name: 'clerk',
        instruction: 'Be brief.',
        tools: [
          kit.exampleTool([
            {
              input: { role: 'user', parts: [{ text: 'Roll a die.' }] },
              output: [
                {
                  role: 'model',
                  parts: [
                    { functionCall: { id: 'c', name: 'roll', args: { sides: 6, of: 'wood' } } },
                  ],
                },
                {
                  role: 'user',
                  parts: [{ functionResponse: { id: 'c', name: 'roll', response: { n: 4 } } }],
                },
                { role: 'model', parts: [{ text: 'Four.' }, { text: 'Again?' }] },
              ],
            },
            {
              input: { role: 'user', parts: [{ text: 'Hi.' }] },
              output: [{ role: 'model', parts: [{ text: 'Hello.' }] }],
            },
          ]),
        ],
        script: [{ text: 'Five.' }],
      }),
    turns: ['Roll.'],
  },
  {
    name: 'exit_loop of an agent with an output key',
    area: 'shipped tools',
    root: (kit) =>
      kit.loop({
        name: 'again',
        maxIterations: 3,
        subAgents: [
          kit.llm({
            name: 'reviser',
            outputKey: 'draft',
            tools: [kit.shippedTool('EXIT_LOOP')],
            script: [{ text: 'Draft 1.' }, { calls: [{ name: 'exit_loop' }] }],
          }),
        ],
      }),
    turns: ['Write.'],
  },
];
