# SPDX-License-Identifier: MIT
# Workers on Nomad (1.7 or later), by the driver docker: the image of config/image, with what Kubernetes calls
# "restricted". So the backend is landlock, and a worker is for one tenant. workers.md (share/doc/lazaret) says how to use it.
job "lazaret-worker" {
  datacenters = ["*"]
  type        = "service"

  update {
    max_parallel     = 1
    min_healthy_time = "5s"
  }

  group "workers" {
    count = 2

    # For the Nomad Autoscaler, with Prometheus as its source.
    scaling {
      min = 2
      max = 20

      policy {
        cooldown            = "2m"
        evaluation_interval = "15s"

        check "places" {
          source = "prometheus"
          query  = "avg(lazaret_places_used)"

          strategy "target-value" {
            target = 70 # of the 100 places of each
          }
        }
      }
    }

    network {
      port "metrics" {
        to = 9464
      }
    }

    service {
      name     = "lazaret-worker"
      provider = "nomad"
      port     = "metrics"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "5s"
      }
    }

    task "worker" {
      driver = "docker"
      user   = "65532:65532"

      # SIGTERM has a worker drain, for an hour at most. The client has to allow that: max_kill_timeout.
      kill_signal  = "SIGTERM"
      kill_timeout = "61m"

      config {
        image           = "registry.example/lazaret:latest"
        ports           = ["metrics"]
        readonly_rootfs = true
        cap_drop        = ["all"]
        security_opt    = ["no-new-privileges"]
        args = [
          "worker",
          "--config=/etc/lazaret/cluster/worker.toml",
          "--set=cluster.places=100",
          "--set=cluster.drain_timeout=\"1h\"",
          "--set=telemetry.listen=\"0.0.0.0:9464\"",
          "--set=sandbox.backend=\"landlock\"",
          "--set=sandbox.require=[\"fs_read\",\"fs_write\",\"network\",\"syscalls\"]",
        ]

        mount {
          type   = "tmpfs"
          target = "/tmp"

          tmpfs_options {
            size = 4294967296
          }
        }

        mount {
          type     = "bind"
          source   = "secrets/worker.toml"
          target   = "/etc/lazaret/cluster/worker.toml"
          readonly = true
        }

        mount {
          type     = "bind"
          source   = "local/token.key.pub"
          target   = "/etc/lazaret/cluster/token.key.pub"
          readonly = true
        }

        mount {
          type     = "bind"
          source   = "local/ca.pem"
          target   = "/etc/lazaret/cluster/ca.pem"
          readonly = true
        }
      }

      # nomad var put nomad/jobs/lazaret-worker worker=@acme-worker.toml keys=@token.key.pub ca=@ca.pem
      template {
        data        = "{{ with nomadVar \"nomad/jobs/lazaret-worker\" }}{{ .worker }}{{ end }}"
        destination = "secrets/worker.toml"
        perms       = "0440"
        uid         = 0
        gid         = 65532
      }

      template {
        data        = "{{ with nomadVar \"nomad/jobs/lazaret-worker\" }}{{ .keys }}{{ end }}"
        destination = "local/token.key.pub"
        perms       = "0444"
      }

      template {
        data        = "{{ with nomadVar \"nomad/jobs/lazaret-worker\" }}{{ .ca }}{{ end }}"
        destination = "local/ca.pem"
        perms       = "0444"
      }

      resources {
        cpu        = 1000
        memory     = 2048
        memory_max = 8192
      }
    }
  }
}
