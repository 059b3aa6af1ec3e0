import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { isJsonObject } from '../../src/core/index.ts';
import { ask, openWireModel } from '../models/wire-model.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { callTool, findTool } from './call-tool.ts';
import { killableServer } from './real-servers.ts';

let folder = '';
let everything: McpToolset;
let files: McpToolset;
let memory: McpToolset;
/** The process ids of the three servers, in the order of their start. */
let pids: readonly (() => Promise<number>)[];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petrichor-mcp-'));
  await writeFile(join(folder, 'pixel.png'), Buffer.from('iVBORw0KGgo=', 'base64'));
  const pidFile = (name: string): string => join(tmpdir(), `${basename(folder)}-${name}.pid`);
  const protocol = 'legacy' as const;
  const programs = [
    killableServer('everything', pidFile('everything')),
    killableServer('filesystem', pidFile('files'), folder),
    killableServer('memory', pidFile('memory')),
  ] as const;
  pids = programs.map(({ pid }) => pid);
  [everything, files, memory] = await Promise.all([
    openMcpToolset({
      ...programs[0].program,
      name: 'everything',
      protocol,
      roots: [{ uri: 'file:///a', name: 'a' }],
      resourceTools: true,
      elicit: async () => ({ action: 'accept', content: { name: 'Ada' } }),
    }),
    openMcpToolset({ ...programs[1].program, name: 'files', protocol }),
    openMcpToolset({
      ...programs[2].program,
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      name: 'memory',
      protocol,
      prefix: 'memory_',
    }),
  ]);
  // This tool appears once the server knows that the client has roots.
  while (everything.tools().every(({ name }) => name !== 'get-roots-list')) await breath();
});

after(async () => {
  await Promise.all([everything, files, memory].map((set) => set.close()));
  await rm(folder, { recursive: true });
  for (const name of ['everything', 'files', 'memory']) {
    await rm(join(tmpdir(), `${basename(folder)}-${name}.pid`), { force: true });
  }
});

/** Arguments for every tool of the three servers, in an order in which each call can succeed. */
const calls = {
  everything: (): Readonly<Record<string, object>> => ({
    echo: { message: 'hi' },
    'get-annotated-message': { messageType: 'error', includeImage: true },
    'get-env': {},
    'get-resource-links': { count: 2 },
    'get-resource-reference': { resourceType: 'Blob', resourceId: 1 },
    'get-roots-list': {},
    'get-structured-content': { location: 'Chicago' },
    'get-sum': { a: 2, b: 3 },
    'get-tiny-image': {},
    'gzip-file-as-resource': {
      name: 'a.gz',
      data: 'data:text/plain,hello',
      outputType: 'resource',
    },
    'toggle-simulated-logging': {},
    'toggle-subscriber-updates': {},
    'trigger-long-running-operation': { duration: 0.1, steps: 2 },
    'trigger-elicitation-request': {},
    'trigger-url-elicitation': { url: 'https://example.com/' },
    list_resources: {},
    read_resource: { uri: 'demo://resource/static/document/features.md' },
  }),
  files: (): Readonly<Record<string, object>> => {
    const path = join(folder, 'note.txt');
    const notes = join(folder, 'notes');
    return {
      write_file: { path, content: 'one' },
      edit_file: { path, edits: [{ oldText: 'one', newText: 'two' }] },
      read_file: { path },
      read_text_file: { path, head: 1 },
      read_media_file: { path: join(folder, 'pixel.png') },
      read_multiple_files: { paths: [path] },
      get_file_info: { path },
      create_directory: { path: notes },
      move_file: { source: path, destination: join(notes, 'moved.txt') },
      list_directory: { path: notes },
      list_directory_with_sizes: { path: notes, sortBy: 'size' },
      directory_tree: { path: folder },
      search_files: { path: folder, pattern: '**/*.txt' },
      list_allowed_directories: {},
    };
  },
  memory: (): Readonly<Record<string, object>> => ({
    memory_create_entities: {
      entities: [
        { name: 'Ada', entityType: 'person', observations: ['writes programs'] },
        { name: 'Bob', entityType: 'person', observations: [] },
      ],
    },
    memory_create_relations: { relations: [{ from: 'Ada', to: 'Bob', relationType: 'knows' }] },
    memory_add_observations: { observations: [{ entityName: 'Ada', contents: ['sings'] }] },
    memory_search_nodes: { query: 'Ada' },
    memory_open_nodes: { names: ['Ada'] },
    memory_read_graph: {},
    memory_delete_observations: { deletions: [{ entityName: 'Ada', observations: ['sings'] }] },
    memory_delete_relations: { relations: [{ from: 'Ada', to: 'Bob', relationType: 'knows' }] },
    memory_delete_entities: { entityNames: ['Bob'] },
  }),
};

/** Calls every tool of a server, one after the other, and returns the results by name. */
async function callEach(
  set: McpToolset,
  args: Readonly<Record<string, object>>,
): Promise<ReadonlyMap<string, unknown>> {
  const names = set.tools().map(({ name }) => name);
  assert.deepEqual(Object.keys(args).toSorted(), names.toSorted(), 'every tool is called');
  const results = new Map<string, unknown>();
  for (const name of Object.keys(args)) {
    results.set(name, await callTool(set, name, args[name]));
  }
  return results;
}

/** Stops a server, calls all of its tools, and passes the unanswered calls to `then`. */
async function withCallsUnanswered(
  which: 'everything' | 'files' | 'memory',
  then: (running: {
    readonly pid: number;
    readonly stop: AbortController;
    readonly calls: readonly Promise<unknown>[];
  }) => Promise<void>,
): Promise<void> {
  const set = { everything, files, memory }[which];
  const index = ['everything', 'files', 'memory'].indexOf(which);
  const pid = (await pids[index]?.()) ?? 0;
  process.kill(pid, 'SIGSTOP');
  const stop = new AbortController();
  const { signal } = stop;
  const running = Object.entries(calls[which]()).map(async ([name, args]) =>
    callTool(set, name, args, { signal }),
  );
  for (const call of running) call.catch(() => undefined);
  // The calls are written to the pipe of the stopped program.
  for (let n = 0; n < 20; n++) await breath();
  await then({ pid, stop, calls: running });
}

describe('three reference servers', () => {
  for (const format of wireFormats) {
    it(`have only tools that ${format.name} accepts`, async () => {
      const sets = [everything, files, memory];
      assert.deepEqual(
        sets.flatMap((set) => set.refused()).map(({ name }) => name),
        // This tool is a task of the 2025 protocol.
        ['simulate-research-query'],
      );
      const tools = sets.flatMap((set) => set.tools()).map(({ declaration }) => declaration);
      assert.ok(tools.length > 35, `${tools.length} tools`);
      await using wire = await openWireModel(format, [{ text: 'I see.' }]);
      await ask(wire.model, { tools });
      assert.equal(wire.server.requests.length, 1);
    });
  }

  it('everything: each tool can be called, and results are text, objects, bytes or URIs', async () => {
    const results = await callEach(everything, calls.everything());
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
  });

  it('filesystem: each tool can be called and has its effect', async () => {
    const results = await callEach(files, calls.files());
    assert.equal(await readFile(join(folder, 'notes', 'moved.txt'), 'utf8'), 'two');
    assert.match(JSON.stringify(results.get('read_text_file')), /two/);
    assert.match(JSON.stringify(results.get('read_media_file')), /iVBORw0KGgo=/);
    assert.match(JSON.stringify(results.get('search_files')), /moved\.txt/);
    await assert.rejects(callTool(files, 'read_text_file', { path: '/etc/hostname' }), {
      code: 'tool_failed',
      message: /denied/,
    });
  });

  it('memory: each tool can be called and has its effect', async () => {
    const results = await callEach(memory, calls.memory());
    assert.match(JSON.stringify(results.get('memory_search_nodes')), /writes programs/);
    assert.match(JSON.stringify(results.get('memory_read_graph')), /knows/);
    const graph = JSON.stringify(await callTool(memory, 'memory_read_graph'));
    assert.match(graph, /Ada/);
    assert.doesNotMatch(graph, /Bob|sings|knows/);
  });

  it('tool annotations determine whether a call needs approval and how it is handled after a crash', () => {
    const policyFor = (set: McpToolset, name: string): unknown => {
      const { readOnly, needsApproval, onCrash } = findTool(set, name);
      return { readOnly, needsApproval, onCrash };
    };
    const reads = { readOnly: true, needsApproval: false, onCrash: 'rerun' };
    assert.deepEqual(policyFor(files, 'read_text_file'), reads);
    assert.deepEqual(policyFor(files, 'edit_file'), {
      readOnly: false,
      needsApproval: true,
      onCrash: 'unknown',
    });
    assert.deepEqual(policyFor(files, 'create_directory'), {
      readOnly: false,
      needsApproval: false,
      onCrash: 'rerun',
    });
  });

  it('resources can be read, and prompts can be filled in', async () => {
    const [resource] = await everything.resources();
    const [part] = await everything.readResource(resource?.uri ?? '');
    assert.ok(isJsonObject(part) && typeof part['text'] === 'string');
    assert.ok((await everything.resourceTemplates()).length > 0);
    const prompts = await everything.prompts();
    const argsPrompt = prompts.find(({ name }) => name === 'args-prompt');
    assert.deepEqual(argsPrompt?.args[0], { name: 'city', required: true });
    const [message] = await everything.prompt('args-prompt', { city: 'Rome' });
    assert.equal(message?.role, 'user');
    assert.match(JSON.stringify(message), /Rome/);
    assert.match(everything.instructions() ?? '', /Everything Server/);
  });

  it('a call reports progress, and a cancelled call ends at once', async () => {
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

  for (const which of ['everything', 'files', 'memory'] as const) {
    it(`cancelling all running calls of ${which} ends each at once, and the server continues`, async () => {
      await withCallsUnanswered(which, async ({ pid, stop, calls: running }) => {
        stop.abort(new Error('enough'));
        for (const call of running) await assert.rejects(call, /enough/);
        process.kill(pid, 'SIGCONT');
      });
      const [name = '', args] = Object.entries(calls[which]())[0] ?? [];
      await callTool({ everything, files, memory }[which], name, args);
    });

    it(`killing ${which} fails all running calls with an error that says they may have been processed`, async () => {
      await withCallsUnanswered(which, async ({ pid, calls: running }) => {
        process.kill(pid, 'SIGKILL');
        for (const call of running) {
          await assert.rejects(call, {
            code: 'mcp_connection_lost',
            message: /may have been processed/,
          });
        }
      });
      const [name = '', args] = Object.entries(calls[which]())[0] ?? [];
      await callTool({ everything, files, memory }[which], name, args);
    });
  }
});
