import { canonicalJson, sha256Hex, type JsonObject } from '../../core/index.ts';

/**
 * Identifies a call by its effect: the tool and its arguments, in any order of members. An approval
 * is bound to it, so it cannot be used for other arguments. 64 hexadecimal digits.
 */
export function callFingerprint(toolName: string, args: JsonObject): string {
  return sha256Hex(`${toolName}\u001F${canonicalJson(args, 'args')}`);
}
