// SPDX-License-Identifier: MIT
// The manifests of config/ against what is published: the schemas of Kubernetes, with no field that they do not
// have (TypeScript finds those in a literal), the fields of agent-sandbox, HCL for Nomad. CONFIG is config/ of the
// source. Each check is shown to fail.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from '@cdktf/hcl2json';
import { parseAllDocuments } from 'yaml';

const config = process.env.CONFIG ?? join(import.meta.dirname, '../../config');
const read = name => readFileSync(join(config, name), 'utf8');

function documents(name) {
    return parseAllDocuments(read(`kubernetes/${name}.yaml`), { uniqueKeys: true }).map(one => {
        assert.deepEqual(one.errors, []);
        return one.toJS();
    });
}

// What Kubernetes says of an object, by the compiled schemas.
async function validated(object) {
    const models = await import(`kubernetes-models/${object.apiVersion}`);
    assert.ok(models[object.kind], `${object.apiVersion} has no ${object.kind}`);
    new models[object.kind](object).validate();
}

// Fields that the types of Kubernetes do not have, in any of these objects: TypeScript's words.
function unknown(objects) {
    const directory = mkdtempSync(join(import.meta.dirname, 'types-'));
    try {
        const text = objects.map(({ type, module, value }, i) =>
            `import type { ${type} as T${i} } from ${JSON.stringify(module)};\n` +
            `export const x${i}: T${i} = ${JSON.stringify(value)};\n`).join('');
        writeFileSync(join(directory, 'all.ts'), text);
        execFileSync(join(import.meta.dirname, 'node_modules/.bin/tsc'),
            ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', join(directory, 'all.ts')]);
        return '';
    } catch (error) {
        if (!error.stdout) throw error;
        return error.stdout.toString();
    } finally {
        rmSync(directory, { recursive: true });
    }
}
const typed = value => ({ type: `I${value.kind}`, module: `kubernetes-models/${value.apiVersion}`, value });

const manifests = ['worker-restricted', 'worker-userns'];

test('manifests are what the schemas of Kubernetes say', async () => {
    for (const name of manifests)
        for (const object of documents(name))
            await validated(object);
    const [, deployment] = documents('worker-restricted');
    for (const breaks of [
        one => { one.spec.template.spec.containers[0].securityContext.readOnlyRootFilesystem = 'yes'; },
        one => { delete one.spec.selector; },
        one => { one.spec.template.spec.containers[0].livenessProbe.periodSeconds = '10s'; },
    ]) {
        const broken = structuredClone(deployment);
        breaks(broken);
        await assert.rejects(validated(broken));
    }
});

test('manifests have no fields that Kubernetes does not have', () => {
    assert.equal(unknown(manifests.flatMap(documents).map(typed)), '');
    const broken = documents('worker-userns')[1];
    broken.spec.template.spec.containers[0].securityContext.procmount = 'Unmasked';
    assert.match(unknown([typed(broken)]), /procmount/);
});

// extensions.agents.x-k8s.io/v1beta1, as its API reference has it; what is Kubernetes' own is checked as that.
const SANDBOX = {
    SandboxTemplate: ['envVarsInjectionPolicy', 'networkPolicy', 'networkPolicyManagement', 'podTemplate', 'service',
        'volumeClaimTemplates', 'volumeClaimTemplatesPolicy'],
    SandboxWarmPool: ['replicas', 'sandboxTemplateRef', 'updateStrategy'],
};
function sandbox(objects) {
    const inner = [];
    for (const { apiVersion, kind, metadata, spec } of objects) {
        assert.equal(apiVersion, 'extensions.agents.x-k8s.io/v1beta1');
        assert.ok(metadata.name && metadata.namespace);
        for (const field of Object.keys(spec))
            assert.ok(SANDBOX[kind].includes(field), `${kind} has no ${field}`);
        if (kind === 'SandboxWarmPool') {
            assert.deepEqual(Object.keys(spec.sandboxTemplateRef), ['name']);
            assert.ok(objects.some(one => one.kind === 'SandboxTemplate' && one.metadata.name === spec.sandboxTemplateRef.name));
            continue;
        }
        assert.ok(['Managed', 'Unmanaged'].includes(spec.networkPolicyManagement));
        assert.deepEqual(Object.keys(spec.podTemplate).sort(), ['metadata', 'spec']);
        inner.push({ type: 'IPodSpec', module: 'kubernetes-models/v1', value: spec.podTemplate.spec });
        for (const [way, type] of [['ingress', 'INetworkPolicyIngressRule'], ['egress', 'INetworkPolicyEgressRule']])
            for (const value of spec.networkPolicy[way])
                inner.push({ type, module: 'kubernetes-models/networking.k8s.io/v1', value });
    }
    return unknown(inner);
}

test('the template for agent-sandbox has its fields', () => {
    assert.equal(sandbox(documents('agent-sandbox')), '');
    const broken = documents('agent-sandbox');
    broken[0].spec.podTemplate.spec.containers[0].arguments = [];
    assert.match(sandbox(broken), /arguments/);
    const other = documents('agent-sandbox');
    other[1].spec.size = 2;
    assert.throws(() => sandbox(other), /no size/);
});

// What blocks of a job may have, of those that the example uses (developer.hashicorp.com/nomad/docs/job-specification).
const NOMAD = {
    job: ['datacenters', 'type', 'update', 'group'],
    update: ['max_parallel', 'min_healthy_time'],
    group: ['count', 'scaling', 'network', 'service', 'task'],
    scaling: ['min', 'max', 'policy'],
    network: ['port'],
    service: ['name', 'provider', 'port', 'check'],
    task: ['driver', 'user', 'kill_signal', 'kill_timeout', 'config', 'template', 'resources'],
    config: ['image', 'ports', 'readonly_rootfs', 'cap_drop', 'security_opt', 'args', 'mount'],
    template: ['data', 'destination', 'perms', 'uid', 'gid'],
    resources: ['cpu', 'memory', 'memory_max'],
};
async function nomad(text) {
    const { job } = await parse('lazaret-worker.nomad.hcl', text);
    const one = block => Array.isArray(block) ? block[0] : block;
    const check = (name, block) => {
        for (const field of Object.keys(block))
            assert.ok(NOMAD[name].includes(field), `${name} has no ${field}`);
    };
    const [first] = Object.values(job).map(one);
    check('job', first);
    check('update', one(first.update));
    const [group] = Object.values(first.group).map(one);
    check('group', group);
    for (const name of ['scaling', 'network', 'service'])
        check(name, one(group[name]));
    const [task] = Object.values(group.task).map(one);
    check('task', task);
    check('config', one(task.config));
    check('resources', one(task.resources));
    for (const each of task.template)
        check('template', each);
    assert.ok(one(task.config).ports.every(port => port in one(group.network).port));
    // Each file that is mounted is one that a template makes.
    const made = task.template.map(each => each.destination);
    for (const mount of one(task.config).mount.filter(each => each.type === 'bind'))
        assert.ok(made.includes(mount.source) && mount.readonly, mount.source);
}

test('the job of Nomad is HCL, with fields that jobs have', async () => {
    const text = read('nomad/lazaret-worker.nomad.hcl');
    await nomad(text);
    await assert.rejects(nomad(text.replace('kill_timeout =', 'kill_after =')), /no kill_after/);
    await assert.rejects(nomad(text.replace('"local/ca.pem"', '"local/other.pem"')));
    await assert.rejects(nomad(text.replace('driver = "docker"', 'driver = docker"')));
});

// The runtime specification of OCI, config-linux.md.
const OCI = {
    actions: ['SCMP_ACT_KILL', 'SCMP_ACT_KILL_PROCESS', 'SCMP_ACT_KILL_THREAD', 'SCMP_ACT_TRAP', 'SCMP_ACT_ERRNO',
        'SCMP_ACT_TRACE', 'SCMP_ACT_ALLOW', 'SCMP_ACT_LOG', 'SCMP_ACT_NOTIFY'],
    operators: ['NE', 'LT', 'LE', 'EQ', 'GE', 'GT', 'MASKED_EQ'].map(word => `SCMP_CMP_${word}`),
};
function seccomp(profile) {
    const fields = (object, names) => assert.deepEqual(Object.keys(object).filter(one => !names.includes(one)), []);
    fields(profile, ['defaultAction', 'defaultErrnoRet', 'architectures', 'flags', 'syscalls']);
    assert.ok(OCI.actions.includes(profile.defaultAction));
    assert.ok(profile.architectures.every(one => /^SCMP_ARCH_[A-Z0-9_]+$/.test(one)));
    for (const rule of profile.syscalls) {
        fields(rule, ['names', 'action', 'errnoRet', 'args']);
        assert.ok(rule.names.length > 0 && rule.names.every(one => /^[a-z0-9_]+$/.test(one)));
        assert.ok(OCI.actions.includes(rule.action));
        for (const argument of rule.args ?? []) {
            fields(argument, ['index', 'value', 'valueTwo', 'op']);
            assert.ok(argument.index < 6 && Number.isInteger(argument.value) && OCI.operators.includes(argument.op));
        }
    }
}

test('the profile for seccomp is one of OCI', () => {
    const profile = JSON.parse(read('kubernetes/lazaret-seccomp.json'));
    seccomp(profile);
    assert.throws(() => seccomp({ ...profile, includes: {} }));
    assert.throws(() => seccomp({ ...profile, syscalls: [{ names: ['mount'], action: 'ALLOW' }] }));
});
