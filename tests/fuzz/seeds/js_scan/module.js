import a, {b as c, default as d, "str" as e} from "m" with {type: "json"};
import * as f from 'n'
import g, * as h from './o.js'; import "p"
export const i = 1, {j, k: [l]} = m
export {a as default, c}; export {x, default as y} from 'q'
export * from 'r'
export * as s from "t";
export default async function () { await 1 }
export class U {} export async function v() {}
await a
