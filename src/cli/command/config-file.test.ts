import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import { Ajv } from 'ajv';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { serveOptions } from '../serve/serve-options.ts';
import { configSchema, expandConfigFile } from './config-file.ts';
import { UsageError } from './usage-error.ts';

const folder = new CommandFolder();

function expand(config: unknown, args: readonly string[] = []): readonly string[] {
  folder.write('serve.json', typeof config === 'string' ? config : JSON.stringify(config));
  return expandConfigFile({
    command: 'serve',
    args: ['--config', 'serve.json', ...args],
    cwd: folder.path,
    options: serveOptions,
  });
}

function refusal(config: unknown): string {
  try {
    expand(config);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error.message;
  }
  return assert.fail('it was accepted');
}

test('the options of a file stand before those of the command line, which win', () => {
  const config = {
    $schema: './node_modules/petrichor/dist/config.schema.json',
    agents: 'agents.ts',
    port: 80,
    console: true,
    live: false,
    'allow-origin': ['https://a.example', 'https://b.example'],
  };
  assert.deepEqual(expand(config, ['--port', '81']), [
    '--port=80',
    '--agents=agents.ts',
    '--console',
    '--allow-origin=https://a.example',
    '--allow-origin=https://b.example',
    '--config',
    'serve.json',
    '--port',
    '81',
  ]);
});

test('a secret in the place of another type is not shown', () => {
  for (const field of ['port', 'console', 'allow-origin']) {
    const message = refusal({ [field]: 'postgres://app:hunter2@database/app' });
    assert.match(message, /: must be (?:a number|true or false|a list of texts)\./);
    assert.doesNotMatch(message, /hunter2/);
  }
});

test('a file that is not understood is refused by its field', () => {
  assert.match(refusal({ prot: 1 }), /serve\.json\.prot: is unknown .*Did you mean `port`\?/);
  assert.match(refusal({ port: '8787' }), /serve\.json\.port: must be a number/);
  assert.match(refusal({ port: 1.5 }), /serve\.json\.port: must be an integer/);
  assert.match(refusal({ console: 'yes' }), /serve\.json\.console: must be true or false/);
  assert.match(
    refusal({ 'allow-origin': 'x' }),
    /serve\.json\.allow-origin: must be a list of texts/,
  );
  assert.match(refusal({ config: 'other.json' }), /serve\.json\.config: is unknown/);
  assert.match(refusal([]), /serve\.json: .*/);
  assert.match(refusal('{ "port": '), /--config: .*serve\.json/);
  const missing = { command: 'serve', args: ['--config=none.json'], cwd: folder.path };
  assert.throws(() => expandConfigFile({ ...missing, options: serveOptions }), {
    code: 'usage',
    message: /--config: ENOENT.*none\.json/,
  });
});

test('the JSON Schema accepts what the program accepts', () => {
  const validate = new Ajv().compile(
    Object.fromEntries(Object.entries(toJsonSchema(configSchema(serveOptions)))),
  );
  assert.ok(validate({ $schema: 'x', port: 80, console: true, 'allow-origin': ['x'] }));
  for (const wrong of [{ prot: 1 }, { port: '80' }, { console: 'yes' }, { 'allow-host': 'x' }])
    assert.ok(!validate(wrong), JSON.stringify(wrong));
});
