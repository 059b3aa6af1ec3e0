import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import { ask, openWireModel } from '../models/wire-model.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { callTool, toolOf } from './call-tool.ts';
import { realServer } from './real-servers.ts';

let folder = '';
let everything: McpToolset;
let files: McpToolset;
let memory: McpToolset;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petrichor-mcp-'));
  const protocol = 'legacy' as const;
  [everything, files, memory] = await Promise.all([
    openMcpToolset({
      ...realServer('everything'),
      name: 'everything',
      protocol,
      roots: [{ uri: 'file:///a', name: 'a' }],
      resourceTools: true,
      elicit: async () => ({ action: 'accept', content: { name: 'Ada' } }),
    }),
    openMcpToolset({ ...realServer('filesystem', folder), name: 'files', protocol }),
    openMcpToolset({
      ...realServer('memory'),
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      name: 'memory',
      protocol,
      prefix: 'memory_',
    }),
  ]);
});

after(async () => {
  await Promise.all([everything, files, memory].map((set) => set.close()));
  await rm(folder, { recursive: true });
});

describe('three real servers', () => {
  for (const format of wireFormats) {
    it(`${format.name} accepts every tool of theirs`, async () => {
      const sets = [everything, files, memory];
      assert.deepEqual(
        sets.flatMap((set) => set.refused()).map(({ name }) => name),
        // A task of the 2025 protocol.
        ['simulate-research-query'],
      );
      const tools = sets.flatMap((set) => set.tools()).map(({ declaration }) => declaration);
      assert.ok(tools.length > 35, `${tools.length} tools`);
      await using wire = await openWireModel(format, [{ text: 'I see.' }]);
      await ask(wire.model, { tools });
      assert.equal(wire.server.requests.length, 1);
    });
  }

  it('each of everything is called, and what comes back is text, objects, bytes or addresses', async () => {
    const args: Readonly<Record<string, object>> = {
      echo: { message: 'hi' },
      'get-sum': { a: 2, b: 3 },
      'get-structured-content': { location: 'Chicago' },
      'get-annotated-message': { messageType: 'error', includeImage: true },
      'get-resource-links': { count: 2 },
      'get-resource-reference': { resourceType: 'Blob', resourceId: 1 },
      'trigger-long-running-operation': { duration: 0.1, steps: 2 },
      'gzip-file-as-resource': {
        name: 'a.gz',
        data: 'data:text/plain,hello',
        outputType: 'resource',
      },
      read_resource: { uri: 'demo://resource/static/document/features.md' },
      'trigger-url-elicitation': { url: 'https://example.com/' },
    };
    const results = new Map<string, unknown>();
    for (const { name } of everything.tools()) {
      results.set(name, await callTool(everything, name, args[name]));
    }
    assert.equal(results.get('echo'), 'Echo: hi');
    assert.match(String(results.get('get-sum')), /is 5/);
    assert.deepEqual(Object.keys(Object(results.get('get-structured-content'))).toSorted(), [
      'conditions',
      'humidity',
      'temperature',
    ]);
    const image = JSON.stringify(results.get('get-tiny-image'));
    assert.match(image, /"inlineData":\{"mimeType":"image\/png","data":"iVBOR/);
    assert.match(JSON.stringify(results.get('get-resource-links')), /"fileUri":"demo:/);
    assert.match(JSON.stringify(results.get('get-resource-reference')), /"inlineData"/);
    assert.match(JSON.stringify(results.get('get-roots-list')), /file:\/\/\/a/);
    assert.match(JSON.stringify(results.get('trigger-elicitation-request')), /Ada/);
    assert.match(JSON.stringify(results.get('list_resources')), /features\.md/);
    assert.match(JSON.stringify(results.get('read_resource')), /Everything Server/);
    assert.ok(results.size > 15);
  });

  it('the tools of filesystem and memory do what they say', async () => {
    const path = join(folder, 'note.txt');
    await callTool(files, 'write_file', { path, content: 'one' });
    await callTool(files, 'edit_file', { path, edits: [{ oldText: 'one', newText: 'two' }] });
    assert.equal(await readFile(path, 'utf8'), 'two');
    assert.match(JSON.stringify(await callTool(files, 'read_text_file', { path })), /two/);
    await assert.rejects(callTool(files, 'read_text_file', { path: '/etc/hostname' }), {
      code: 'tool_failed',
      message: /denied/,
    });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    await callTool(memory, 'memory_create_entities', { entities });
    const found = await callTool(memory, 'memory_search_nodes', { query: 'Ada' });
    assert.match(JSON.stringify(found), /writes programs/);
  });

  it('what a tool is said to do decides who is asked and what a crash means', () => {
    const of = (set: McpToolset, name: string): unknown => {
      const { readOnly, needsApproval, onCrash } = toolOf(set, name);
      return { readOnly, needsApproval, onCrash };
    };
    const reads = { readOnly: true, needsApproval: false, onCrash: 'rerun' };
    assert.deepEqual(of(files, 'read_text_file'), reads);
    assert.deepEqual(of(files, 'edit_file'), {
      readOnly: false,
      needsApproval: true,
      onCrash: 'unknown',
    });
    assert.deepEqual(of(files, 'create_directory'), {
      readOnly: false,
      needsApproval: false,
      onCrash: 'rerun',
    });
  });

  it('resources are read and prompts filled in', async () => {
    const [resource] = await everything.resources();
    const [part] = await everything.readResource(resource?.uri ?? '');
    assert.ok(isJsonObject(part) && typeof part['text'] === 'string');
    assert.ok((await everything.resourceTemplates()).length > 0);
    const prompts = await everything.prompts();
    const named = prompts.find(({ name }) => name === 'args-prompt');
    assert.deepEqual(named?.args[0], { name: 'city', required: true });
    const [message] = await everything.prompt('args-prompt', { city: 'Rome' });
    assert.equal(message?.role, 'user');
    assert.match(JSON.stringify(message), /Rome/);
    assert.match(everything.instructions() ?? '', /Everything Server/);
  });

  it('a call tells how far it is, and a cancelled one ends at once and is not waited for', async () => {
    const steps: string[] = [];
    const stop = new AbortController();
    const call = callTool(
      everything,
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      {
        signal: stop.signal,
        progress: (text) => {
          steps.push(text);
          if (steps.length === 2) stop.abort(new Error('enough'));
        },
      },
    );
    await assert.rejects(call, /enough/);
    assert.deepEqual(steps.slice(0, 2), ['1/600', '2/600']);
    assert.equal(
      await callTool(everything, 'echo', { message: 'still there' }),
      'Echo: still there',
    );
  });
});
