import { dirname, relative, resolve, sep } from 'node:path';
import type { AgentProofLimits } from '../../agents/index.ts';
import { formatProperty, formatTrace } from '../../verify/index.ts';
import type { Bounds, ProofReport } from '../../verify/index.ts';

/** The first words of each file that `toProofTestFile` returns. */
export const FIRST_WORDS = '// Written by `petrichor prove --save-test`.';

/** The parts of a proof that a test file repeats. */
export interface ProofTest {
  /** The path of the test file, and of the module that exports the net. */
  readonly testFile: string;
  readonly moduleFile: string;
  /** What is proved, by expressions of the namespace `subject` of the module. */
  readonly source: ProofSource;
}

/**
 * A net with its bounds, or an agent with the limits of its proof. The bounds and the components of an agent are found
 * again when the test runs: they follow the net that is mended.
 */
export type ProofSource =
  | { readonly net: string; readonly bounds: Bounds }
  | { readonly agent: string; readonly limits: AgentProofLimits };

/**
 * Returns the text of a test file with one test for each refuted property. A test fails while the property is refuted,
 * and passes when it is proved. Undefined if nothing was refuted.
 */
export function toProofTestFile(
  results: ProofReport['results'],
  { testFile, moduleFile, source }: ProofTest,
): string | undefined {
  const refuted = results.filter(({ verdict }) => verdict === 'refuted');
  if (refuted.length === 0) return undefined;
  const path = relative(dirname(resolve(testFile)), resolve(moduleFile))
    .split(sep)
    .join('/');
  const tests = refuted.flatMap(({ property, trace, reason }) => [
    '',
    ...(trace === undefined ? (reason ?? '') : formatTrace(trace))
      .split(/\r\n?|[\n\u2028\u2029]/)
      .map((line) => `// ${line}`.trimEnd()),
    `test(${quote(property.name)}, async () => {`,
    `  const properties = [parseProperty(${quote(formatProperty(property))})];`,
    `  const report = await prove(net, { properties, ${'agent' in source ? 'bounds, components' : 'bounds'} });`,
    '  assert.ok(isProved(report), formatReport(report));',
    '});',
  ]);
  return [
    `${FIRST_WORDS} A test fails while its property is refuted, and passes when it is proved.`,
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    ...('agent' in source ? ["import { agentProof } from 'petrichor/agents';"] : []),
    ...('net' in source && source.net.startsWith('compile(')
      ? ["import { compile } from 'petrichor/net';"]
      : []),
    "import { formatReport, isProved, parseProperty, prove } from 'petrichor/verify';",
    `import * as subject from ${quote(path.startsWith('.') ? path : `./${path}`)};`,
    '',
    ...('agent' in source
      ? [
          `const net = ${source.agent}.compiled;`,
          `const { bounds, components } = agentProof(${source.agent}, ${JSON.stringify(source.limits)});`,
        ]
      : [`const net = ${source.net};`, `const bounds = ${JSON.stringify(source.bounds)};`]),
    ...tests,
    '',
  ].join('\n');
}

/** Returns a string literal. A name of a net can contain any character. */
function quote(text: string): string {
  const [, inner = ''] = /^"([^]*)"$/.exec(JSON.stringify(text)) ?? [];
  return `'${inner
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')}'`;
}
