import { ALL_DRIVERS } from './drivers/all-drivers.ts';
import type { ProtocolDriver } from './driver.ts';
import { openScenarioServer } from './scenario-server.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

/**
 * Plays every scenario with every stock client, and prints a table of what holds. A cell with a number refers to a rule
 * of the protocol below the table. Returns whether everything holds.
 */
export async function printProtocolTable(): Promise<boolean> {
  const rules: string[] = [];
  const failures: string[] = [];
  console.log(`| client | ${SCENARIOS.map(({ name }) => name).join(' | ')} |`);
  console.log(`| --- |${SCENARIOS.map(() => ' --- |').join('')}`);
  for (const driver of ALL_DRIVERS) {
    const cells: string[] = [];
    for (const scenario of SCENARIOS) {
      const isPlayed = driver.cannot?.includes(scenario.name) !== true;
      const problem = isPlayed ? await findProblem(driver, scenario) : undefined;
      if (problem !== undefined) failures.push(`${driver.name}, ${scenario.name}: ${problem}`);
      const rule = driver.rules[scenario.name];
      const mark = rule === undefined ? '' : ` (${rules.push(`${driver.name}: ${rule}`)})`;
      const held = isPlayed ? 'yes' : 'no';
      cells.push(`${problem === undefined ? held : 'FAILS'}${mark}`);
    }
    console.log(`| ${driver.name} | ${cells.join(' | ')} |`);
  }
  for (const [index, rule] of rules.entries()) console.log(`(${index + 1}) ${rule}`);
  for (const failure of failures) console.log(failure);
  return failures.length === 0;
}

async function findProblem(
  driver: ProtocolDriver,
  { agent, play }: Scenario,
): Promise<string | undefined> {
  try {
    await using server = await openScenarioServer([driver.protocol], agent);
    await play(await driver.open(server), server);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
