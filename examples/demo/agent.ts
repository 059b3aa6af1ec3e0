import { agent } from 'petrichor';
import type { Agent, JsonObject } from 'petrichor';
import { getFunctionResponses } from 'petrichor/core';
import type { ModelRequest } from 'petrichor/models';
import { ScriptedModel } from 'petrichor/testing';
import type { ScriptedTurn } from 'petrichor/testing';
import { z } from 'zod';
import { createTools } from './tools.ts';
import type { Workplace } from './tools.ts';

export const question = 'How many words are in docs, src/core and src/net? Write a report.';

const folders = ['docs', 'src/core', 'src/net'];

/** What a model might say, turn by turn. The words are given, the numbers come from what the tools found. */
const turns: readonly ((request: ModelRequest) => ScriptedTurn)[] = [
  () => ({
    text: 'I look around first.',
    toolCalls: [
      { name: 'list_files', args: { path: 'docs' } },
      { name: 'read_file', args: { path: 'package.json' } },
    ],
  }),
  () => ({
    text: 'Three counts, all at once.',
    toolCalls: folders.map((path) => ({ name: 'count_words', args: { path } })),
  }),
  (request) => ({
    text: 'Now the report.',
    toolCalls: [
      { name: 'write_report', args: { text: formatReport(answersTo('count_words', request)) } },
    ],
  }),
  (request) => {
    const [written] = answersTo('write_report', request);
    return {
      text:
        written?.['written'] === undefined
          ? 'Thank you. The report stands as it is.'
          : 'The report is written.',
    };
  },
];

/** An agent whose model is a script and whose tools are real. */
export function writer(workplace: Workplace): Agent {
  const model = new ScriptedModel(
    (request, turn) => turns[turn]?.(request) ?? { text: 'That is all.' },
  );
  return agent({ name: 'writer', model, tools: createTools(workplace) });
}

function answersTo(name: string, { contents }: ModelRequest): readonly JsonObject[] {
  return contents.flatMap((content) =>
    getFunctionResponses({ content })
      .filter((answer) => answer.name === name)
      .map(({ response }) => response),
  );
}

const counted = z.object({ path: z.string(), files: z.number(), words: z.number() });

function formatReport(counts: readonly JsonObject[]): string {
  const rows = counts
    .map((count) => counted.parse(count))
    .map(({ path, files, words }) => `| ${path} | ${files} | ${words} |\n`);
  return `# Words in this repository\n\n| path | files | words |\n| --- | ---: | ---: |\n${rows.join('')}`;
}
