import { z } from 'zod';
import type { Program } from '../kit.ts';

const invoice = z.object({ number: z.string(), cents: z.number().int() });

/** Answers with a schema, and agents as tools. */
export const schemaPrograms: readonly Program[] = [
  {
    name: 'an output schema',
    area: 'schemas',
    root: (kit) =>
      kit.llm({
        name: 'reader',
        description: 'Reads invoices.',
        instruction: 'Read the invoice.',
        outputSchema: invoice,
        outputKey: 'invoice',
        script: [{ text: '{"number":"A-7","cents":4200}' }],
      }),
    turns: ['Invoice A-7, 42.00.'],
  },
  {
    name: 'an output schema with tools',
    area: 'schemas',
    root: (kit) =>
      kit.llm({
        name: 'reader',
        instruction: 'Read the invoice.',
        outputSchema: invoice,
        tools: [
          kit.tool({ name: 'convert', description: 'Converts.', execute: () => ({ cents: 4200 }) }),
        ],
        script: [
          { calls: [{ name: 'convert' }] },
          { calls: [{ name: 'set_model_response', args: { number: 'A-7', cents: 4200 } }] },
        ],
      }),
    turns: ['Invoice A-7, 42.00.'],
  },
  {
    name: 'an output schema in a tree',
    area: 'schemas',
    root: (kit) =>
      kit.llm({
        name: 'front',
        subAgents: [
          kit.llm({
            name: 'reader',
            description: 'Reads invoices.',
            instruction: 'Read the invoice.',
            outputSchema: invoice,
            script: [{ text: '{"number":"A-7","cents":4200}' }],
          }),
        ],
        script: [
          { calls: [{ name: 'transfer_to_agent', args: { agentName: 'reader' } }] },
          { text: 'Anything else?' },
        ],
      }),
    turns: ['Invoice A-7, 42.00.', 'Thanks.'],
  },
  {
    name: 'an agent as a tool',
    area: 'agent tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.agentTool(
            kit.llm({
              name: 'translator',
              description: 'Translates.',
              instruction: 'Translate to French.',
              script: [{ text: 'Bonjour.' }],
            }),
          ),
        ],
        script: [
          { calls: [{ name: 'translator', args: { request: 'Good day.' } }] },
          { text: 'It is: Bonjour.' },
        ],
      }),
    turns: ['How do the French greet?'],
  },
  {
    name: 'an agent as a tool with schemas and state',
    area: 'agent tools',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.agentTool(
            kit.llm({
              name: 'reader',
              description: 'Reads invoices.',
              instruction: 'Read in {language}.',
              inputSchema: z.object({ text: z.string() }),
              outputSchema: invoice,
              outputKey: 'invoice',
              script: [{ text: '{"number":"A-7","cents":4200}' }],
            }),
          ),
        ],
        script: [
          { calls: [{ name: 'reader', args: { text: 'Invoice A-7, 42.00.' } }] },
          { text: 'It is A-7.' },
        ],
      }),
    state: { language: 'English' },
    turns: ['Read.'],
  },
];
