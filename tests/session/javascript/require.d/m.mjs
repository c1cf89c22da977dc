import fs, { existsSync } from 'fs';
import * as path from 'node:path';
import one from './sub/one.js';
import { helper } from './helper.mjs';
export let value = 1;
export const next = () => ++value;
export { helper as again };
export * from './helper.mjs';
export default [typeof fs.readFileSync, existsSync(import.meta.filename), path.basename(import.meta.url), one.name, helper()];
