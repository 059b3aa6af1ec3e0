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

// Arguments as a model is told of them. Their types are plain: what the pipes check does not change them.

/** A text of at most `longest` characters; 1,000 unless said. */
export function textArgument(about: string, max = 1_000): GenericSchema<string> {
  return pipe(string(), maxLength(max), description(about));
}

export function flagArgument(about: string): GenericSchema<boolean> {
  return pipe(boolean(), description(about));
}

/** A whole number from `least` to `most`. */
export function countArgument(about: string, min: number, max: number): GenericSchema<number> {
  return pipe(number(), integer(), minValue(min), maxValue(max), description(about));
}
