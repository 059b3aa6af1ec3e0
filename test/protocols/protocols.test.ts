/** Stock clients of every protocol play the same scenarios against one server. */
import { describe, it } from 'node:test';
import { ALL_DRIVERS } from './drivers/all-drivers.ts';
import { openScenarioServer } from './scenario-server.ts';
import { SCENARIOS } from './scenarios.ts';

for (const driver of ALL_DRIVERS)
  describe(`${driver.name} and the protocol ${driver.protocol}`, () => {
    for (const { name, agent, play } of SCENARIOS)
      it(name, { skip: driver.cannot?.includes(name) && driver.rules[name] }, async () => {
        await using server = await openScenarioServer([driver.protocol], agent);
        await play(await driver.open(server), server);
      });
  });
