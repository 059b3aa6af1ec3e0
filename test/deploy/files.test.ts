/** The files of `deploy/`, read with the parsers of their formats. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parser as promql } from '@prometheus-io/lezer-promql';
import { Ajv } from 'ajv';
import { DockerfileParser } from 'dockerfile-ast';
import { validate as lintDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { deploy, has, readDeploy, root } from './deploy-files.ts';

/** How long a stopping server may take beyond `drain-timeout`, in seconds. */
const SECONDS_TO_END = 10;
const serveConfig = JSON.parse(readDeploy('serve.json'));
const drainSeconds = Number.parseInt(serveConfig['drain-timeout'], 10);

test('serve.json is a configuration that petrichor serve accepts', () => {
  const schema = JSON.parse(readFileSync(join(root, 'dist', 'config.schema.json'), 'utf8'));
  const validate = new Ajv().compile(schema);
  assert.ok(validate(serveConfig), JSON.stringify(validate.errors));
  assert.ok(!validate({ ...serveConfig, prot: 1 }));
});

test('the Dockerfile has no problem, and the server does not run as root', () => {
  const text = readDeploy('Dockerfile');
  assert.deepEqual(lintDockerfile(text), []);
  const instructions = DockerfileParser.parse(text).getInstructions();
  const users = instructions.filter((one) => one.getKeyword() === 'USER');
  assert.equal(users.at(-1)?.getArgumentsContent(), 'node');
  for (const one of instructions.filter((from) => from.getKeyword() === 'FROM'))
    assert.match(one.getArgumentsContent() ?? '', /^[a-z]+:\d+[\w.-]*( AS \w+)?$/);
  const ignored = readDeploy('.dockerignore').split('\n');
  for (const secret of ['.env', '*.key', 'node_modules']) assert.ok(ignored.includes(secret));
});

test('compose: only the proxy is reachable, and a server has time to hand over its sessions', () => {
  const { services } = parse(readDeploy('compose/compose.yaml'));
  const open = Object.keys(services).filter((name) => 'ports' in services[name]);
  assert.deepEqual(open, ['proxy']);
  for (const [name, { image }] of Object.entries<{ readonly image?: string }>(services))
    if (image !== undefined) assert.match(image, /^[a-z]+:\d/, name);
  const { agents, proxy } = services;
  assert.ok(Number.parseInt(agents.stop_grace_period, 10) >= drainSeconds + SECONDS_TO_END);
  const trusted = agents.command[agents.command.indexOf('--trust-proxy') + 1];
  assert.equal(proxy.networks.inside.ipv4_address, trusted);
  // Passwords come from .env, never from the file.
  const secrets = JSON.stringify(services).match(/(PASSWORD|KEY)":"[^"]*/g) ?? [];
  for (const secret of secrets) assert.match(secret, /":"\$\{/);
  assert.ok(secrets.length > 0);
});

test('compose with Restate: only a Restate with the private key may call the servers, and nobody reaches it', () => {
  const { services, secrets } = parse(readDeploy('compose/compose.restate.yaml'));
  for (const name of Object.keys(services)) assert.ok(!('ports' in services[name]), name);
  const { agents, restate, register } = services;
  const base = parse(readDeploy('compose/compose.yaml')).services;
  assert.deepEqual(agents.command.slice(0, 5), base.agents.command);
  const [listen, key] = ['--dispatch-listen', '--dispatch-key'].map(
    (option) => agents.command[agents.command.indexOf(option) + 1],
  );
  assert.match(key, /^\$\{RESTATE_PUBLIC_KEY:\?/);
  const port = Number(listen.split(':')[1]);
  assert.match(register.entrypoint.join(' '), new RegExp(`http://agents:${port}'`));
  const [secret] = restate.secrets;
  assert.ok(secret in secrets);
  const { RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: file } =
    restate.environment;
  assert.equal(file, `/run/secrets/${secret}`);
});

test('the Kubernetes manifests are valid and name each other', () => {
  const kinds = { Deployment, Service, PodDisruptionBudget, Ingress };
  const { resources, configMapGenerator } = parse(readDeploy('kubernetes/kustomization.yaml'));
  assert.deepEqual(configMapGenerator, [{ name: 'agents', files: ['serve.json'] }]);
  const objects = resources.flatMap((file: string) =>
    parseAllDocuments(readDeploy(`kubernetes/${file}`)).map((document) => document.toJS()),
  );
  for (const one of objects) new kinds[one.kind as keyof typeof kinds](one).validate();
  const [deployment, service, budget, ingress] = objects;
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  assert.equal(container.ports[0].containerPort, serveConfig.port);
  assert.deepEqual(service.spec.selector, deployment.spec.template.metadata.labels);
  assert.deepEqual(budget.spec.selector, deployment.spec.selector);
  assert.equal(ingress.spec.rules[0].http.paths[0].backend.service.name, service.metadata.name);
  const preStop = container.lifecycle.preStop.sleep.seconds;
  assert.ok(pod.terminationGracePeriodSeconds >= preStop + drainSeconds + SECONDS_TO_END);
  for (const { name, value } of container.env) assert.equal(value, undefined, name);
  // Fields of the models are open, so a misspelled one is found by its name.
  const known = JSON.stringify(parse(readDeploy('kubernetes/deployment.yaml')));
  for (const field of ['readOnlyRootFilesystem', 'allowPrivilegeEscalation', 'runAsNonRoot'])
    assert.ok(known.includes(`"${field}":`), field);
});

/** The metrics that a server has, from the text of its source. */
const metrics = new Set(
  readFileSync(join(root, 'src', 'server', 'metrics', 'metrics.ts'), 'utf8').match(
    /(?<=')petrichor_\w+(?=')/g,
  ),
);

function checkQuery(query: string): void {
  // Grafana replaces these.
  const text = query.replaceAll('$job', 'petrichor').replaceAll('$__rate_interval', '5m');
  const names: string[] = [];
  promql.parse(text).iterate({
    enter: ({ type, name, from, to }) => {
      assert.ok(!type.isError, `${text} at ${from}`);
      if (name === 'Identifier') names.push(text.slice(from, to));
    },
  });
  const own = names.filter((name) => name.startsWith('petrichor_'));
  for (const name of own)
    assert.ok(metrics.has(name.replace(/_bucket$/, '')), `${name} in ${text}`);
}

test('the alerts are PromQL over metrics of the server, and each has a runbook', () => {
  const { groups } = parse(readDeploy('monitoring/alerts.yaml'));
  const runbooks = readFileSync(join(root, 'docs', 'runbooks.md'), 'utf8');
  const sections = [...runbooks.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  const rules = groups.flatMap((group: { readonly rules: readonly object[] }) => group.rules);
  assert.deepEqual(
    rules.map((rule: { readonly alert: string }) => rule.alert),
    sections,
  );
  for (const { alert, expr, annotations } of rules) {
    checkQuery(expr);
    assert.equal(annotations.runbook, `docs/runbooks.md#${alert.toLowerCase()}`);
  }
  assert.throws(() => checkQuery('sum(petrichor_turns_total'));
  assert.throws(() => checkQuery('petrichor_turn_total > 0'));
});

test('the pipelines of the collector name receivers and exporters that it has', () => {
  const { receivers, exporters, service } = parse(readDeploy('monitoring/otel-collector.yaml'));
  const pipelines = Object.entries<Record<string, readonly string[]>>(service.pipelines);
  assert.deepEqual(
    pipelines.map(([signal]) => signal),
    ['traces', 'metrics', 'logs'],
  );
  for (const [, pipeline] of pipelines) {
    for (const name of pipeline['receivers'] ?? []) assert.ok(name in receivers, name);
    for (const name of pipeline['exporters'] ?? []) assert.ok(name in exporters, name);
  }
});

test('the dashboard shows every metric of the server', () => {
  const { panels } = JSON.parse(readDeploy('monitoring/dashboard.json'));
  const queries: readonly string[] = panels.flatMap(
    ({ targets }: { readonly targets: readonly { readonly expr: string }[] }) =>
      targets.map(({ expr }) => expr),
  );
  for (const query of queries) checkQuery(query);
  for (const metric of metrics)
    assert.ok(
      queries.some((query) => query.includes(metric)),
      metric,
    );
});

test('systemd accepts the unit, and confines it', (t) => {
  if (!has('systemd-analyze')) return t.skip('systemd-analyze is not installed');
  const unit = join(deploy, 'systemd', 'petrichor.service');
  // Only the paths of the machine that it is for are missing here.
  const said = execFileSync('systemd-analyze', ['security', '--offline=true', unit], {
    encoding: 'utf8',
  });
  const [, exposure = 'none'] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? [];
  assert.ok(Number(exposure) <= 3, exposure);
  const text = readFileSync(unit, 'utf8');
  const [, stop = '0'] = /^TimeoutStopSec=(\d+)$/m.exec(text) ?? [];
  assert.ok(Number(stop) >= drainSeconds + SECONDS_TO_END);
});

test('every file is in the list of the folder', () => {
  const list = readDeploy('README.md');
  for (const [, file = ''] of list.matchAll(/\]\(([\w./]+)\)/g))
    assert.ok(existsSync(join(deploy, file)), file);
});
