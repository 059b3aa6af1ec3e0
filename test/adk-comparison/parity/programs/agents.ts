import type { Program } from '../kit.ts';

/** One agent and its prompt. */
export const agentPrograms: readonly Program[] = [
  {
    name: 'one answer',
    area: 'agents',
    root: (kit) => kit.llm({ name: 'assistant', script: [{ text: 'Good day.' }] }),
    turns: ['Hello!'],
  },
  {
    name: 'description and instruction',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        description: 'Greets people.',
        instruction: 'Be brief.',
        script: [{ text: 'Good day.', usage: { prompt: 10, candidates: 3 } }],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'global instruction and state in templates',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        globalInstruction: 'You work for {app:company}.',
        instruction: 'Call the user {name}. {missing?}',
        script: [{ text: 'Good day.' }],
      }),
    state: { name: 'Ada', 'app:company': 'Analytical Engines' },
    turns: ['Hello!'],
  },
  {
    name: 'instruction function',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        instruction: ({ get }) => `Keep {braces}. The user is ${String(get('name'))}.`,
        script: [{ text: 'Good day.' }],
      }),
    state: { name: 'Ada' },
    turns: ['Hello!'],
  },
  {
    name: 'three turns',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        script: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }],
      }),
    turns: ['First', 'Second', 'Third'],
  },
  {
    name: 'no history',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        includeContents: 'none',
        script: [{ text: 'One.' }, { text: 'Two.' }],
      }),
    turns: ['First', 'Second'],
  },
  {
    name: 'output key',
    area: 'agents',
    root: (kit) =>
      kit.llm({ name: 'assistant', outputKey: 'answer', script: [{ text: 'Forty-two.' }] }),
    turns: ['What is the answer?'],
  },
  {
    name: 'generation options',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        temperature: 0.5,
        maxOutputTokens: 100,
        script: [{ text: 'Good day.', finishReason: 'STOP' }],
      }),
    turns: ['Hello!'],
  },
  {
    name: 'thoughts',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        script: [{ thought: 'A greeting.', text: 'Good day.' }, { text: 'Bye.' }],
      }),
    turns: ['Hello!', 'Bye!'],
  },
  {
    name: 'streaming',
    area: 'agents',
    root: (kit) =>
      kit.llm({
        name: 'assistant',
        script: [{ pieces: ['Good ', 'day.'], text: 'Good day.' }],
      }),
    streaming: true,
    turns: ['Hello!'],
  },
];
