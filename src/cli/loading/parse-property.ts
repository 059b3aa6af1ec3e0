import { readOwn } from '../../core/internal.ts';
import {
  InvalidPropertyError,
  parseProperty as parsePropertyText,
  PropertySyntaxError,
} from '../../verify/index.ts';
import type { Property } from '../../verify/index.ts';
import { UsageError } from '../command/usage-error.ts';

/**
 * Parses a property of the command line: the name of a default property, or a property as text or JSON.
 * @throws UsageError if it is unknown or not well-formed
 */
export function parseProperty(text: string, known: Readonly<Record<string, Property>>): Property {
  const knownProperty = readOwn(known, text);
  if (knownProperty !== undefined) return knownProperty;
  try {
    return parsePropertyText(text);
  } catch (error) {
    if (!(error instanceof PropertySyntaxError || error instanceof InvalidPropertyError))
      throw error;
    const names = `The default properties are ${Object.keys(known).join(', ')}.`;
    throw new UsageError(`--property '${text}': ${error.message} ${names}`, 'prove');
  }
}
