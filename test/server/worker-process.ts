import Anthropic from '@anthropic-ai/sdk';

/** A stock worker in a separate process. Arguments: address, key, environment and working folder. */
const [baseURL = '', apiKey = '', environmentId = '', workdir = ''] = process.argv.slice(2);

await new Anthropic({ baseURL, apiKey }).beta.environments.work
  .worker({
    environmentId,
    environmentKey: apiKey,
    workdir,
    maxIdleMs: 500,
    memorySyncIntervalMs: null,
  })
  .run();
