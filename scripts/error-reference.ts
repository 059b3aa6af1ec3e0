/** Writes the error codes of the package to `docs/errors.md`, from the doc comments of the source. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { withErrorCodes } from './error-page.ts';

const page = resolve(import.meta.dirname, '../docs/errors.md');
writeFileSync(page, withErrorCodes(readFileSync(page, 'utf8')));
