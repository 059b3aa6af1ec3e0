import { dirname, relative, resolve, sep } from 'node:path';
import { formatProperty, formatTrace } from '../../verify/index.ts';
import type { Bounds, ProofReport } from '../../verify/index.ts';

/** The first words of each file that `toProofTestFile` returns. */
export const FIRST_WORDS = '// Written by `petrichor prove --save-test`.';

/** The parts of a proof that a test file repeats. */
export interface ProofTest {
  /** The path of the test file, and of the module that exports the net. */
  readonly testFile: string;
  readonly moduleFile: string;
  /** The compiled net, as an expression of the namespace `subject` of the module. */
  readonly expression: string;
  readonly bounds: Bounds;
}

/**
 * Returns the text of a test file with one test for each refuted property. A test fails while the property is refuted,
 * and passes when it is proved. Undefined if nothing was refuted.
 */
export function toProofTestFile(
  results: ProofReport['results'],
  { testFile, moduleFile, expression, bounds }: ProofTest,
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
    '  const report = await prove(net, { properties, bounds });',
    '  assert.ok(isProved(report), formatReport(report));',
    '});',
  ]);
  const compiles = expression.startsWith('compile(');
  return [
    `${FIRST_WORDS} A test fails while its property is refuted, and passes when it is proved.`,
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    ...(compiles ? ["import { compile } from 'petrichor/net';"] : []),
    "import { formatReport, isProved, parseProperty, prove } from 'petrichor/verify';",
    `import * as subject from ${quote(path.startsWith('.') ? path : `./${path}`)};`,
    '',
    `const net = ${expression};`,
    `const bounds = ${JSON.stringify(bounds)};`,
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
