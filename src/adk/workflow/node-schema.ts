import type { StandardSchemaV1 } from '@standard-schema/spec';
import { PetrichorError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';

/**
 * The input or output of a node does not match its schema, or the schema is asynchronous.
 * @remedy Correct the value or the schema. `direction` names which of the two it is.
 */
export class NodeSchemaError extends PetrichorError {
  override readonly code = 'node_schema' as const;
  readonly nodeName: string;
  readonly direction: 'input' | 'output';

  constructor(nodeName: string, direction: 'input' | 'output', problem: string) {
    super(`The ${direction} of node "${nodeName}" does not match its schema: ${problem}`);
    this.nodeName = nodeName;
    this.direction = direction;
  }
}

export function createSchemaParser(
  name: string,
  direction: 'input' | 'output',
  schema: StandardSchemaV1,
): (value: Json) => Json {
  return (value) => {
    const result = schema['~standard'].validate(value);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new NodeSchemaError(name, direction, 'the schema is asynchronous.');
    }
    if (result.issues === undefined)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an output is encoded to JSON again, an input is only passed to the function
      return result.value as Json;
    const [issue] = result.issues;
    const path = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key));
    throw new NodeSchemaError(
      name,
      direction,
      `${path.length > 0 ? `${path.join('.')}: ` : ''}${issue?.message ?? ''}`,
    );
  };
}
