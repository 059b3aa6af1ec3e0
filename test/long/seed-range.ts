/** Random nets to compare: a number of them from a seed on, or all of a range of seeds. */
export interface SeedRange {
  /** What is compared, for the title of a test. */
  readonly text: string;
  readonly nets: number;
  readonly firstSeed: number;
  readonly lastSeed?: number;
}

/**
 * Returns the range of seeds in the environment variable `SEEDS`, such as `SEEDS=1-5000`: several processes can compare
 * one range each, and their counts add up. Default: `nets` nets from `firstSeed` on.
 * @throws RangeError for another text.
 */
export function readSeedRange(nets: number, firstSeed: number): SeedRange {
  const text = process.env['SEEDS'];
  if (text === undefined) return { text: String(nets), nets, firstSeed };
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (first === undefined || last === undefined || Number(first) > Number(last))
    throw new RangeError(`SEEDS is "${text}"; expected two numbers such as 1-5000`);
  return {
    text: `the ${text}th`,
    nets: Number.POSITIVE_INFINITY,
    firstSeed: Number(first),
    lastSeed: Number(last),
  };
}
