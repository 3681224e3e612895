// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"

#include <cstdlib>
#include <string>

namespace skep::test {

/// An authority and what it has signed, made by the openssl command.
class certificates {
public:
    /// `domain`: the certificates are for localhost and *.DOMAIN.
    explicit certificates(const std::string& domain) {
        openssl("req -x509 " + new_key("ca") + " -out ca.pem -days 2 -subj /CN=authority");
        for (const std::string name : {"server", "client"}) {
            openssl("req " + new_key(name) + " -out " + name + ".csr -subj /CN=" + name);
            write_file(folder_ / "names", "subjectAltName=DNS:localhost,DNS:*." + domain + "\n");
            openssl("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -out " + name +
                    ".pem -days 2 -extfile names");
        }
    }

    std::string path(const std::string& name) const { return folder_ / name; }

private:
    static std::string new_key(const std::string& name) {
        return "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + name + ".key";
    }

    void openssl(const std::string& words) const {
        const auto line = "cd " + folder_.path().string() + " && openssl " + words + " >/dev/null 2>&1";
        BOOST_REQUIRE_MESSAGE(std::system(line.c_str()) == 0, line);
    }

    scratch_folder folder_;
};

} // namespace skep::test
