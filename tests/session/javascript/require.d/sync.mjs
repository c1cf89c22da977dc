import { helper } from './helper.mjs'; export const twice = helper() + helper();
