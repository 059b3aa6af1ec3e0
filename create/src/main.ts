#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProject, CreateError } from './create-project.ts';
import { helpText, readArguments, UsageError } from './read-arguments.ts';

const root = join(import.meta.dirname, '..');

try {
  const request = readArguments(process.argv.slice(2));
  if (request.kind === 'help') process.stdout.write(`${helpText()}\n`);
  else {
    const { folder, template, petrichor = `^${ownVersion()}` } = request;
    createProject({ folder, template, petrichor, templates: join(root, 'templates') });
    process.stdout.write(`Created ${folder} from the template ${template}. Next:

  cd ${folder}
  npm install
  npm test         # tests of the agent; no API key, no network
  npm run prove    # proves its control flow
  npm start

README.md of the project says more.
`);
  }
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CreateError)) throw error;
  const help = error instanceof UsageError ? `\n\n${helpText()}` : '';
  process.stderr.write(`${error.message}${help}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

/** A project gets the version of petrichor that this package was released with. */
function ownVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return version;
}
