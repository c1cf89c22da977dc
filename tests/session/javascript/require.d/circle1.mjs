import {two} from './circle2.mjs'; export function one(){return 1} export const sum=()=>one()+two();
