import type { Json, JsonObject } from '../../core/index.ts';
import type { SchemaDraft } from './prepared-schema.ts';

/** Receives one problem of the validated value. */
export type Report = (message: string) => void;

/** The JSON Schema name of a value's type. */
export function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Checks `minLength` and `maxLength`, in code points. */
export function validateString(value: string, schema: JsonObject, report: Report): void {
  const { minLength: min, maxLength: max } = schema;
  if (typeof min !== 'number' && typeof max !== 'number') return;
  const length = lengthInCodePoints(value);
  if (typeof min === 'number' && length < min) report(`String is too short (${length} < ${min})`);
  if (typeof max === 'number' && length > max) report(`String is too long (${length} > ${max})`);
}

/** Checks the range of a number and `multipleOf`. */
export function validateNumber(
  value: number,
  schema: JsonObject,
  draft: SchemaDraft,
  report: Report,
): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf: divisor } = schema;
  if (typeof minimum === 'number') {
    const excluded = draft === '4' && exclusiveMinimum === true;
    if (value < minimum || (excluded && value === minimum)) {
      report(`${value} is less than ${excluded ? 'or equal to ' : ''}${minimum}`);
    }
  }
  if (typeof maximum === 'number') {
    const excluded = draft === '4' && exclusiveMaximum === true;
    if (value > maximum || (excluded && value === maximum)) {
      report(`${value} is greater than ${excluded ? 'or equal to ' : ''}${maximum}`);
    }
  }
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) {
    report(`${value} is less than or equal to ${exclusiveMinimum}`);
  }
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) {
    report(`${value} is greater than or equal to ${exclusiveMaximum}`);
  }
  if (typeof divisor === 'number' && divisor > 0 && !isMultiple(value, divisor)) {
    report(`${value} is not a multiple of ${divisor}`);
  }
}

/** Computes with decimal digits: 0.3 is a multiple of 0.1, which floating point denies. */
function isMultiple(value: number, divisor: number): boolean {
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

function decimal(value: number): readonly [digits: bigint, exponent: number] {
  const [digits = '0', exponent = '0'] = Math.abs(value).toString().split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function lengthInCodePoints(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
