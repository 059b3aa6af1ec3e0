import {
  boolean,
  description,
  integer,
  maxLength,
  maxValue,
  minValue,
  number,
  pipe,
  string,
  type GenericSchema,
} from 'valibot';

// Schemas of arguments with descriptions for the model. Each returns the plain type: its checks do
// not transform the value.

/** A string of at most `max` characters. Default: 1,000. */
export function textArgument(text: string, max = 1_000): GenericSchema<string> {
  return pipe(string(), maxLength(max), description(text));
}

export function flagArgument(text: string): GenericSchema<boolean> {
  return pipe(boolean(), description(text));
}

/** An integer from `min` to `max`. */
export function countArgument(text: string, min: number, max: number): GenericSchema<number> {
  return pipe(number(), integer(), minValue(min), maxValue(max), description(text));
}
